package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Maps offsets in a program or library file to functions.
 *
 * <p>A function covers only the length that its symbol states, so code without a symbol does not
 * get the name of the function before it.
 */
public final class ElfFunctions {

  private static final int MAX_NAME_BYTES = 4096;

  /** How many symbols before an offset are considered, because functions nest and have aliases. */
  private static final int LOOK_BACK = 32;

  private static final int INDEX_BITS = 23;

  /** Prefers exported names, then those with fewer leading underscores, then shorter ones. */
  private static final Comparator<Candidate> BEST_FIRST =
      Comparator.comparingInt(Candidate::table)
          .thenComparingInt(candidate -> underscores(candidate.name()))
          .thenComparingInt(candidate -> candidate.name().length())
          .thenComparing(Candidate::name);

  private final List<Code> code;
  private final List<SymbolTable> tables = new ArrayList<>();
  private final String buildId;
  private final @Nullable UnwindTable frames;
  private final Set<Long> roots;
  private final long pythonRuntime;

  /** Sorted by file offset; the other arrays have the same order. */
  private long[] starts = {};

  private long[] lengths = {};
  private int[] names = {};
  private byte[] tableOf = {};

  private ElfFunctions(ElfFile file, Path debugRoot) throws IOException {
    this.code = file.code();
    this.buildId = BuildId.of(file);
    this.frames = UnwindTable.of(file);
    SymbolTable exported = SymbolTable.of(file, SymbolTable.DYNAMIC);
    this.roots =
        exported == null || frames == null || !file.isForX86()
            ? Set.of()
            : ThreadRoots.of(file, code, exported, frames);
    this.pythonRuntime =
        exported == null ? 0 : exported.address(SymbolTable.VARIABLE, "_PyRuntime");
    addIfPresent(exported);
    addIfPresent(DebugSymbols.of(file, buildId, debugRoot));
    index();
  }

  /**
   * Reads a file. Separate symbols come from {@code .gnu_debugdata}, or from the debug file with
   * the same build id below {@code debugRoot}.
   */
  public static ElfFunctions of(Path file, Path debugRoot) throws IOException {
    try (FileChannel channel = ElfFile.open(file)) {
      return new ElfFunctions(new ElfFile(channel), debugRoot);
    }
  }

  /** Returns the mangled name of the function at an offset; null without a symbol. */
  public @Nullable String at(long fileOffset) {
    int found = Arrays.binarySearch(starts, fileOffset);
    int last = found >= 0 ? lastEqual(found) : -found - 2;
    Candidate best = null;
    for (int i = last; i >= 0 && i > last - LOOK_BACK; i--) {
      if (best != null && starts[i] < best.start()) {
        break;
      }
      if (fileOffset - starts[i] < Math.max(lengths[i], 1)) {
        String name = SymbolTable.name(tables.get(tableOf[i]).names(), names[i], MAX_NAME_BYTES);
        Candidate other = new Candidate(starts[i], tableOf[i], name);
        if (!name.isEmpty() && (best == null || BEST_FIRST.compare(other, best) < 0)) {
          best = other;
        }
      }
    }
    return best == null ? null : best.name();
  }

  /** Returns the frame at an instruction, given its offset in the file. */
  public CallFrame frame(long fileOffset, Instruction instruction) {
    UnwindTable known = frames;
    return known == null ? CallFrame.UNKNOWN : known.at(address(fileOffset), instruction);
  }

  /**
   * Returns whether threads or programs start in the function at an offset, so that it has no
   * caller.
   */
  public boolean isRoot(long fileOffset) {
    UnwindTable known = frames;
    return known != null && roots.contains(known.start(address(fileOffset)));
  }

  /** Returns the address of the Python interpreter's state; 0 if the file has none. */
  public long pythonRuntime() {
    return pythonRuntime;
  }

  /** A function that contains an offset, with one of its names. */
  private record Candidate(long start, int table, String name) {}

  /** Returns the address of a file offset, as {@code addr2line} expects it. */
  public long address(long fileOffset) {
    for (Code part : code) {
      if (fileOffset >= part.offset() && fileOffset - part.offset() < part.length()) {
        return fileOffset - part.offset() + part.address();
      }
    }
    return fileOffset;
  }

  /** Returns the build id in hexadecimal; empty if the file has none. */
  public String buildId() {
    return buildId;
  }

  /** Returns the approximate memory use in bytes. */
  public long memoryBytes() {
    long names = tables.stream().mapToLong(table -> table.names().limit()).sum();
    UnwindTable known = frames;
    return names + 21L * starts.length + (known == null ? 0 : known.memoryBytes());
  }

  private void addIfPresent(@Nullable SymbolTable table) {
    if (table != null) {
      tables.add(table);
    }
  }

  private int lastEqual(int index) {
    int last = index;
    while (last + 1 < starts.length && starts[last + 1] == starts[index]) {
      last++;
    }
    return last;
  }

  private void index() {
    Found found = new Found();
    for (SymbolTable table : tables) {
      table.forEachFunction((name, address, length) -> add(found, name, address, length));
      found.table++;
    }
    long[] order = new long[found.count];
    for (int i = 0; i < order.length; i++) {
      order[i] = found.starts[i] << INDEX_BITS | i;
    }
    Arrays.sort(order);
    starts = new long[order.length];
    lengths = new long[order.length];
    names = new int[order.length];
    tableOf = new byte[order.length];
    for (int i = 0; i < order.length; i++) {
      int from = (int) (order[i] & (1 << INDEX_BITS) - 1);
      starts[i] = found.starts[from];
      lengths[i] = found.lengths[from];
      names[i] = found.names[from];
      tableOf[i] = found.tables[from];
    }
    // The symbols themselves are no longer needed, only their names.
    tables.replaceAll(table -> new SymbolTable(ByteBuffer.allocate(0), table.names()));
  }

  private void add(Found found, int name, long address, long length) {
    for (Code part : code) {
      if (part.holds(address)) {
        long start = address - part.address() + part.offset();
        if (start >>> (63 - INDEX_BITS) == 0 && length >= 0) {
          found.add(name, start, length);
        }
        return;
      }
    }
  }

  private static int underscores(String name) {
    int count = 0;
    while (count < name.length() && name.charAt(count) == '_') {
      count++;
    }
    return count;
  }

  /** Collects functions in the order of the tables. */
  private static final class Found {

    private long[] starts = new long[1024];
    private long[] lengths = new long[1024];
    private int[] names = new int[1024];
    private byte[] tables = new byte[1024];
    private byte table;
    private int count;

    void add(int name, long start, long length) {
      if (count == starts.length) {
        starts = Arrays.copyOf(starts, 2 * count);
        lengths = Arrays.copyOf(lengths, 2 * count);
        names = Arrays.copyOf(names, 2 * count);
        tables = Arrays.copyOf(tables, 2 * count);
      }
      starts[count] = start;
      lengths[count] = length;
      names[count] = name;
      tables[count++] = table;
    }
  }
}
