package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.linux.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A loaded map, open for as long as its object is.
 *
 * <p>Thread-safe. An operation is one system call. A failure is a return value, because these
 * methods are called at request time.
 */
public final class BpfMap {

  private static final int INFO_BYTES = 24;

  private final Libbpf libbpf;
  private final String name;
  private final int fd;
  private final int type;
  private final int keySize;
  private final int valueSize;
  private final int maxEntries;

  /** Creates a map over an open descriptor, which its owner closes. */
  public BpfMap(Libbpf libbpf, String name, int fd) {
    this.libbpf = libbpf;
    this.name = name;
    this.fd = fd;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
      BpfObject.describe(fd, info, "map " + name);
      this.type = info.get(JAVA_INT, 0);
      this.keySize = info.get(JAVA_INT, 8);
      this.valueSize = info.get(JAVA_INT, 12);
      this.maxEntries = info.get(JAVA_INT, 16);
    }
  }

  /** Returns its name in the object. */
  public String name() {
    return name;
  }

  /** Returns its file descriptor, which belongs to the object. */
  public int fd() {
    return fd;
  }

  /** Returns the number of its type. */
  public int type() {
    return type;
  }

  /** Returns the size of a key in bytes. */
  public int keySize() {
    return keySize;
  }

  /** Returns the size of a value in bytes; for a per-CPU map the size for one CPU. */
  public int valueSize() {
    return valueSize;
  }

  /** Returns the maximum number of entries; for a ring buffer its bytes. */
  public int maxEntries() {
    return maxEntries;
  }

  /** Stores an entry; returns false if the map is full or the kernel refuses. */
  public boolean put(MemorySegment key, MemorySegment value) {
    return call(BpfCommand.MAP_UPDATE, key, value);
  }

  /** Copies an entry's value; returns false if there is no such entry. */
  public boolean get(MemorySegment key, MemorySegment into) {
    return call(BpfCommand.MAP_LOOKUP, key, into);
  }

  /** Deletes an entry; returns false if there is no such entry. */
  public boolean delete(MemorySegment key) {
    return call(BpfCommand.MAP_DELETE, key, MemorySegment.NULL);
  }

  /**
   * Copies the key after {@code key}, or the first key if that is null; returns false at the end.
   */
  public boolean nextKey(MemorySegment key, MemorySegment into) {
    return call(BpfCommand.MAP_GET_NEXT_KEY, key, into);
  }

  /** Takes the oldest value out of a queue; returns false if there is none. */
  public boolean take(MemorySegment into) {
    return call(BpfCommand.MAP_LOOKUP_AND_DELETE, MemorySegment.NULL, into);
  }

  /** Deletes all entries, except those that are added meanwhile. */
  public void clear() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(keySize, Long.BYTES);
      for (int i = 0; i < maxEntries && nextKey(MemorySegment.NULL, key); i++) {
        delete(key);
      }
    }
  }

  /** Returns whether there is no entry; a closed map has none. */
  public boolean isEmpty() {
    try (Arena arena = Arena.ofConfined()) {
      return !nextKey(MemorySegment.NULL, arena.allocate(keySize, Long.BYTES));
    }
  }

  /** Returns the sum over all CPUs of an entry of a per-CPU array of 64-bit values. */
  public long percpuSum(int index) {
    int cpus = libbpf.possibleCpus();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment values = arena.allocate(JAVA_LONG, cpus);
      if (!get(arena.allocateFrom(JAVA_INT, index), values)) {
        return 0;
      }
      long sum = 0;
      for (int cpu = 0; cpu < cpus; cpu++) {
        sum += values.getAtIndex(JAVA_LONG, cpu);
      }
      return sum;
    }
  }

  private boolean call(BpfCommand command, MemorySegment key, MemorySegment value) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments = Arguments.in(arena).word(0, fd).pointer(8, key).pointer(16, value);
      return !Errno.isError(command.call(arguments));
    }
  }
}
