package io.inferspan.ebpf.elf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the header, segments and sections of a 64-bit little-endian ELF file. */
final class ElfFile {

  private static final int HEADER_BYTES = 64;
  private static final int SEGMENT_BYTES = 56;
  private static final int SECTION_BYTES = 64;
  private static final int MAX_SEGMENTS = 1024;
  private static final int MAX_SECTIONS = 16_384;
  private static final int LOADED = 1;
  private static final int EXECUTABLE = 1;
  private static final int COMPRESSED = 1 << 11;
  private static final int MACHINE_AT = 18;
  private static final int X86_64 = 62;

  private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F', 2, 1};

  private static final int NAMES_INDEX_AT = 62;

  private final Source source;
  private final ByteBuffer header;

  /** The bytes of a file. */
  interface Source {

    long size() throws IOException;

    /** Reads until the buffer is full or data ends; returns -1 at the end of the file. */
    int read(ByteBuffer into, long offset) throws IOException;
  }

  /** A loaded segment with code: {@code address} corresponds to {@code offset} in the file. */
  record Code(long offset, long address, long length) {

    boolean holds(long wanted) {
      return wanted >= address && wanted - address < length;
    }
  }

  /** A section of the file. */
  record Section(
      int name,
      int type,
      long flags,
      long address,
      long offset,
      long length,
      int link,
      long entryLength) {

    boolean isCompressed() {
      return (flags & COMPRESSED) != 0;
    }
  }

  ElfFile(FileChannel channel) throws IOException {
    this(
        new Source() {
          @Override
          public long size() throws IOException {
            return channel.size();
          }

          @Override
          public int read(ByteBuffer into, long offset) throws IOException {
            return channel.read(into, offset);
          }
        });
  }

  ElfFile(byte[] bytes) throws IOException {
    this(
        new Source() {
          @Override
          public long size() {
            return bytes.length;
          }

          @Override
          public int read(ByteBuffer into, long offset) {
            int length = into.remaining();
            into.put(bytes, (int) offset, length);
            return length;
          }
        });
  }

  private ElfFile(Source source) throws IOException {
    this.source = source;
    this.header = read(0, HEADER_BYTES);
    for (int i = 0; i < MAGIC.length; i++) {
      if (header.get(i) != MAGIC[i]) {
        throw new ElfException("not a 64-bit little-endian ELF file");
      }
    }
  }

  /** Opens a regular file; reading a pipe or a device could block forever. */
  static FileChannel open(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new ElfException("not a regular file: " + file);
    }
    return FileChannel.open(file);
  }

  List<Code> code() throws IOException {
    ByteBuffer table = table(32, 54, SEGMENT_BYTES, MAX_SEGMENTS);
    List<Code> code = new ArrayList<>();
    for (int at = 0; at < table.limit(); at += SEGMENT_BYTES) {
      if (table.getInt(at) == LOADED && (table.getInt(at + 4) & EXECUTABLE) != 0) {
        Code part = new Code(table.getLong(at + 8), table.getLong(at + 16), table.getLong(at + 32));
        require(part.address() >= 0 && inside(part.offset(), part.length()));
        code.add(part);
      }
    }
    return code;
  }

  boolean isForX86() {
    return header.getShort(MACHINE_AT) == X86_64;
  }

  List<Section> sections() throws IOException {
    ByteBuffer table = table(40, 58, SECTION_BYTES, MAX_SECTIONS);
    List<Section> sections = new ArrayList<>();
    for (int at = 0; at < table.limit(); at += SECTION_BYTES) {
      sections.add(
          new Section(
              table.getInt(at),
              table.getInt(at + 4),
              table.getLong(at + 8),
              table.getLong(at + 16),
              table.getLong(at + 24),
              table.getLong(at + 32),
              table.getInt(at + 40),
              table.getLong(at + 56)));
    }
    return sections;
  }

  /** Returns the section with this name; null if there is none. */
  @Nullable Section section(String name) throws IOException {
    List<Section> sections = sections();
    int index = Short.toUnsignedInt(header.getShort(NAMES_INDEX_AT));
    if (index >= sections.size()) {
      return null;
    }
    Section table = sections.get(index);
    byte[] wanted = (name + '\0').getBytes(StandardCharsets.ISO_8859_1);
    for (Section section : sections) {
      long at = Integer.toUnsignedLong(section.name());
      if (at <= table.length() - wanted.length
          && read(table.offset() + at, wanted.length).equals(ByteBuffer.wrap(wanted))) {
        return section;
      }
    }
    return null;
  }

  /**
   * Reads a table; the header has its offset at {@code placeAt}, its entry size and count at {@code
   * sizeAt}.
   */
  private ByteBuffer table(int placeAt, int sizeAt, int entryBytes, int maxEntries)
      throws IOException {
    int count = Short.toUnsignedInt(header.getShort(sizeAt + 2));
    if (count == 0) {
      return ByteBuffer.allocate(0);
    }
    if (Short.toUnsignedInt(header.getShort(sizeAt)) != entryBytes || count > maxEntries) {
      throw new ElfException(
          "the ELF file has a table of " + count + " entries: too many, or of an unknown size");
    }
    return read(header.getLong(placeAt), (long) count * entryBytes);
  }

  /** Reads exactly {@code length} bytes; the caller limits the length. */
  ByteBuffer read(long offset, long length) throws IOException {
    require(inside(offset, length));
    ByteBuffer bytes = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (source.read(bytes, offset + bytes.position()) < 0) {
        throw new ElfException("the ELF file became shorter while it was read");
      }
    }
    return bytes.flip();
  }

  private boolean inside(long offset, long length) throws IOException {
    return offset >= 0 && length >= 0 && offset <= source.size() - length;
  }

  private static void require(boolean inside) throws ElfException {
    if (!inside) {
      throw new ElfException("the ELF file refers to bytes beyond its end");
    }
  }
}
