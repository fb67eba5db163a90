package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Section;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A symbol table of an ELF file and its string table. */
record SymbolTable(ByteBuffer symbols, ByteBuffer names) {

  /** {@code .symtab}. */
  static final int STATIC = 2;

  /** {@code .dynsym}. */
  static final int DYNAMIC = 11;

  static final int MAX_SYMBOLS = 2_000_000;

  private static final int SYMBOL_BYTES = 24;
  private static final int MAX_NAMES_BYTES = 64 << 20;

  /** Kinds of symbols. */
  static final int VARIABLE = 1;

  static final int FUNCTION = 2;

  /** Receives a function: the offset of its name, its address and its length. */
  interface Visitor {
    void function(int name, long address, long length);
  }

  /**
   * Returns the first table of a type. A valid file has at most one; more would let a hostile file
   * waste time.
   */
  static @Nullable SymbolTable of(ElfFile file, int type) throws IOException {
    List<Section> sections = file.sections();
    for (Section section : sections) {
      if (section.type() == type) {
        return of(file, section, sections);
      }
    }
    return null;
  }

  private static SymbolTable of(ElfFile file, Section table, List<Section> sections)
      throws IOException {
    if (table.entryLength() != SYMBOL_BYTES
        || table.length() > (long) MAX_SYMBOLS * SYMBOL_BYTES
        || table.link() < 0
        || table.link() >= sections.size()) {
      throw new ElfException(
          "the symbol table of the ELF file has an unknown format or too many symbols");
    }
    Section strings = sections.get(table.link());
    if (strings.length() > MAX_NAMES_BYTES) {
      throw new ElfException(
          "the ELF file has " + strings.length() + " bytes of symbol names, more than the limit");
    }
    return new SymbolTable(
        file.read(table.offset(), table.length()), file.read(strings.offset(), strings.length()));
  }

  void forEachFunction(Visitor visitor) {
    forEach(FUNCTION, visitor);
  }

  private void forEach(int type, Visitor visitor) {
    for (int at = 0; at + SYMBOL_BYTES <= symbols.limit(); at += SYMBOL_BYTES) {
      boolean defined = symbols.getShort(at + 6) != 0;
      if (defined && (symbols.get(at + 4) & 0xf) == type) {
        visitor.function(symbols.getInt(at), symbols.getLong(at + 8), symbols.getLong(at + 16));
      }
    }
  }

  /**
   * Returns the address of a function or variable; 0 if absent. The name must have at least 7
   * characters.
   */
  long address(int type, String wanted) {
    byte[] name = (wanted + '\0').getBytes(StandardCharsets.ISO_8859_1);
    ByteBuffer bytes = ByteBuffer.wrap(name).order(names.order());
    long[] found = {0};
    forEach(
        type,
        (at, address, _) -> {
          if (at >= 0
              && at <= names.limit() - name.length
              && names.getLong(at) == bytes.getLong(0)
              && names.slice(at, name.length).equals(bytes)) {
            found[0] = address;
          }
        });
    return found[0];
  }

  /** Returns the name at this position; empty if it is longer than the limit. */
  static String name(ByteBuffer names, int begin, int maxBytes) {
    int end = begin;
    int last = Math.min(names.limit(), begin + maxBytes);
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
