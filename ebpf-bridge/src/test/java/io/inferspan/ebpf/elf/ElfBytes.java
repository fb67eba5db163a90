package io.inferspan.ebpf.elf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes a small ELF library whose code is not where its addresses say, as linkers may. */
final class ElfBytes {

  static final int CODE_OFFSET = 0x400;
  static final long CODE_ADDRESS = 0x20_1400L;

  private static final int CODE_BYTES = 0x200;
  private static final int FUNCTION = 2;
  private static final int SYMBOLS = 0x100;
  private static final int NAMES = 0x300;
  private static final int SECTIONS = 0x600;

  private final List<byte[]> symbols = new ArrayList<>(List.of(new byte[24]));
  private final ByteArrayOutputStream names = new ByteArrayOutputStream();

  ElfBytes() {
    names.write(0);
  }

  ElfBytes function(String name, long address) {
    return symbol(name, address, FUNCTION, 1);
  }

  ElfBytes symbol(String name, long address, int type, int section) {
    byte[] bytes = new byte[24];
    ByteBuffer symbol = littleEndian(bytes);
    symbol.putInt(names.size()).put((byte) (0x10 | type)).put((byte) 0).putShort((short) section);
    symbol.putLong(address).putLong(8);
    symbols.add(bytes);
    names.writeBytes(name.getBytes(StandardCharsets.ISO_8859_1));
    names.write(0);
    return this;
  }

  byte[] bytes() {
    byte[] bytes = new byte[SECTIONS + 3 * 64];
    ByteBuffer file = littleEndian(bytes);
    file.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1}).position(16);
    file.putShort((short) 3).putShort((short) 62).putInt(1).putLong(0);
    file.putLong(64).putLong(SECTIONS).putInt(0).putShort((short) 64);
    file.putShort((short) 56).putShort((short) 1);
    file.putShort((short) 64).putShort((short) 3).putShort((short) 0);
    file.putInt(1).putInt(5).putLong(CODE_OFFSET).putLong(CODE_ADDRESS).putLong(CODE_ADDRESS);
    file.putLong(CODE_BYTES).putLong(CODE_BYTES).putLong(0x1000);
    file.position(SYMBOLS);
    symbols.forEach(file::put);
    file.position(NAMES).put(names.toByteArray());
    section(file, 1, 11, SYMBOLS, symbols.size() * 24, 2);
    section(file, 2, 3, NAMES, names.size(), 0);
    return bytes;
  }

  private static void section(
      ByteBuffer file, int index, int type, int offset, int... lengthAndLink) {
    file.position(SECTIONS + index * 64);
    file.putInt(0).putInt(type).putLong(0).putLong(0).putLong(offset).putLong(lengthAndLink[0]);
    file.putInt(lengthAndLink[1]).putInt(0).putLong(8).putLong(type == 11 ? 24 : 0);
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
