package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Code;
import io.inferspan.ebpf.elf.ElfFile.Section;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** The functions of a library and where in its file each begins. */
public final class ElfSymbols {

  private static final int SYMBOL_BYTES = 24;
  private static final int MAX_SYMBOLS = 2_000_000;
  private static final int MAX_NAMES_BYTES = 64 << 20;
  private static final int MAX_NAME_BYTES = 512;
  private static final int STATIC_TABLE = 2;
  private static final int DYNAMIC_TABLE = 11;
  private static final int FUNCTION = 2;

  private final List<Code> code;
  private final Map<String, Long> offsets = new HashMap<>();

  private ElfSymbols(ElfFile file) throws IOException {
    this.code = file.code();
    List<Section> sections = file.sections();
    // Exported names first: a static function may bear the name of an exported one.
    add(file, sections, DYNAMIC_TABLE);
    add(file, sections, STATIC_TABLE);
  }

  /** Reads a library; whatever else the file is, an {@link IOException} says so. */
  public static ElfSymbols of(Path library) throws IOException {
    // A pipe or a device in the place of a library would never end.
    if (!Files.isRegularFile(library)) {
      throw new ElfException("not a file: " + library);
    }
    try (SeekableByteChannel channel = Files.newByteChannel(library)) {
      return new ElfSymbols(new ElfFile(channel));
    }
  }

  /** Where the function begins; empty where the library does not define it. */
  public OptionalLong fileOffset(String function) {
    Long offset = offsets.get(function);
    return offset == null ? OptionalLong.empty() : OptionalLong.of(offset);
  }

  /** The names of all functions. */
  public Set<String> functions() {
    return offsets.keySet();
  }

  /** Of each kind a file has at most one table; more would only make a hostile file slow. */
  private void add(ElfFile file, List<Section> sections, int type) throws IOException {
    for (Section section : sections) {
      if (section.type() == type) {
        add(file, section, sections);
        return;
      }
    }
  }

  private void add(ElfFile file, Section table, List<Section> sections) throws IOException {
    if (table.entryLength() != SYMBOL_BYTES
        || table.length() > (long) MAX_SYMBOLS * SYMBOL_BYTES
        || table.link() < 0
        || table.link() >= sections.size()) {
      throw new ElfException("an ELF symbol table of an unknown kind");
    }
    Section strings = sections.get(table.link());
    if (strings.length() > MAX_NAMES_BYTES) {
      throw new ElfException("an ELF file with " + strings.length() + " bytes of names");
    }
    ByteBuffer symbols = file.read(table.offset(), table.length());
    ByteBuffer names = file.read(strings.offset(), strings.length());
    for (int at = 0; at + SYMBOL_BYTES <= symbols.limit(); at += SYMBOL_BYTES) {
      add(symbols, at, names);
    }
  }

  private void add(ByteBuffer symbols, int at, ByteBuffer names) {
    boolean defined = symbols.getShort(at + 6) != 0;
    if (!defined || (symbols.get(at + 4) & 0xf) != FUNCTION) {
      return;
    }
    String name = name(names, symbols.getInt(at));
    long address = symbols.getLong(at + 8);
    for (Code part : code) {
      if (!name.isEmpty() && part.holds(address)) {
        offsets.putIfAbsent(name, address - part.address() + part.offset());
        return;
      }
    }
  }

  private static String name(ByteBuffer names, int begin) {
    int end = begin;
    int last = Math.min(names.limit(), begin + MAX_NAME_BYTES);
    while (begin >= 0 && end < last && names.get(end) != 0) {
      end++;
    }
    if (begin < 0 || end >= last) {
      return "";
    }
    byte[] name = new byte[end - begin];
    names.get(begin, name);
    return new String(name, StandardCharsets.ISO_8859_1);
  }
}
