package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.elf.ElfFunctions;
import io.inferspan.ebpf.symbols.MemoryMap.FileId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A cache of the symbols of recently used files, bounded in memory. */
final class ElfCache {

  private final long maxBytes;
  private final Map<FileId, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  private record Entry(@Nullable ElfFunctions functions, long bytes) {}

  ElfCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the functions of a file; null if it is not a readable ELF file. */
  @Nullable ElfFunctions of(FileId file, Path path, Path debugRoot) {
    Entry known = entries.get(file);
    if (known == null) {
      known = read(path, debugRoot);
      entries.put(file, known);
      bytes += known.bytes();
      evict();
    }
    return known.functions();
  }

  long bytes() {
    return bytes;
  }

  private void evict() {
    Iterator<Entry> oldest = entries.values().iterator();
    while (bytes > maxBytes && entries.size() > 1) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }

  private static Entry read(Path path, Path debugRoot) {
    // The overhead of an entry.
    long entryBytes = 200;
    try {
      ElfFunctions functions = ElfFunctions.of(path, debugRoot);
      return new Entry(functions, functions.memoryBytes() + entryBytes);
    } catch (IOException unreadable) {
      return new Entry(null, entryBytes);
    }
  }
}
