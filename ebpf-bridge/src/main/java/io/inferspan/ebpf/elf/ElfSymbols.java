package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** The functions of a library and their file offsets. */
public final class ElfSymbols {

  private static final int MAX_NAME_BYTES = 512;

  private final List<Code> code;
  private final Map<String, Long> offsets = new HashMap<>();

  private ElfSymbols(ElfFile file) throws IOException {
    this.code = file.code();
    // Exported names first: a static function may have the same name.
    for (int type : new int[] {SymbolTable.DYNAMIC, SymbolTable.STATIC}) {
      SymbolTable table = SymbolTable.of(file, type);
      if (table != null) {
        table.forEachFunction((name, address, _) -> add(table.names(), name, address));
      }
    }
  }

  /** Reads a library; throws an {@link IOException} if the file is not an ELF library. */
  public static ElfSymbols of(Path library) throws IOException {
    try (FileChannel channel = ElfFile.open(library)) {
      return new ElfSymbols(new ElfFile(channel));
    }
  }

  /** Returns the file offset of a function; empty if the library does not define it. */
  public OptionalLong fileOffset(String function) {
    Long offset = offsets.get(function);
    return offset == null ? OptionalLong.empty() : OptionalLong.of(offset);
  }

  /** Returns the names of all functions. */
  public Set<String> functions() {
    return offsets.keySet();
  }

  private void add(ByteBuffer names, int nameAt, long address) {
    String name = SymbolTable.name(names, nameAt, MAX_NAME_BYTES);
    for (Code part : code) {
      if (!name.isEmpty() && part.holds(address)) {
        offsets.putIfAbsent(name, address - part.address() + part.offset());
        return;
      }
    }
  }
}
