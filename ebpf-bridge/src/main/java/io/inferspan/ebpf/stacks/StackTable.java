package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.symbols.Symbols.Image;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** Reads the stacks that the kernel has counted. Not thread-safe. */
final class StackTable {

  /** The size of {@code struct ispan_stack}. */
  static final int KEY_BYTES = 176;

  static final int SUM_BYTES = 24;
  static final int FRAMES = 127;
  static final String NO_TRACE = "0".repeat(32);

  private static final int KIND_AT = 4;
  private static final int CALLED_AT = 6;
  private static final int IMAGE_AT = 8;
  private static final int FUNCTION_AT = 16;
  private static final int TRACE_AT = 24;
  private static final int KERNEL_AT = 40;
  private static final int USER_AT = 72;
  private static final int CODE_AT = 104;
  private static final int CALLERS_AT = 120;
  private static final int PYTHON_AT = 168;
  private static final int IMAGE_BYTES = 24;
  private static final int TRACE_BYTES = 16;

  private final BpfObject programs;

  StackTable(BpfObject programs) {
    this.programs = programs;
  }

  /**
   * A stack as the kernel counts it.
   *
   * @param kind a number of {@link StackRecorder.Kind}, including the number of device samples
   * @param called for a call, the row of its function in {@link CudaCalls}
   * @param function for a launch, the GPU function, as its handle or the address of its host stub;
   *     otherwise 0
   * @param trace the trace id of the thread's request; zeros if there is none
   * @param python the id of the stack of Python functions; 0 if there is none
   * @param kernel the kernel's frames; for a device sample, the instruction and the number of the
   *     stall reason
   */
  record Stack(
      Image image,
      int kind,
      int called,
      long function,
      String trace,
      Frames kernel,
      Frames user,
      Innermost innermost,
      long python) {

    static Stack in(MemorySegment key) {
      return new Stack(
          new Image(key.get(JAVA_INT, 0), key.get(JAVA_LONG, IMAGE_AT)),
          key.get(JAVA_SHORT, KIND_AT),
          key.get(JAVA_SHORT, CALLED_AT),
          key.get(JAVA_LONG, FUNCTION_AT),
          HexFormat.of().formatHex(key.asSlice(TRACE_AT, TRACE_BYTES).toArray(JAVA_BYTE)),
          Frames.in(key, KERNEL_AT),
          Frames.in(key, USER_AT),
          Innermost.in(key),
          key.get(JAVA_LONG, PYTHON_AT));
    }
  }

  /**
   * The code around the innermost instruction, and return addresses from the top of the stack.
   *
   * @param before the eight bytes of code before the instruction
   * @param next the eight bytes from the instruction on
   * @param callers possible return addresses, each with the index of its word on the stack
   */
  record Innermost(long before, long next, List<Long> callers) {

    private static final int ADDRESS_BITS = 48;

    private static Innermost in(MemorySegment key) {
      List<Long> callers = new ArrayList<>();
      for (long at = CALLERS_AT; at < PYTHON_AT; at += Long.BYTES) {
        callers.add(key.get(JAVA_LONG, at));
      }
      return new Innermost(
          key.get(JAVA_LONG, CODE_AT), key.get(JAVA_LONG, CODE_AT + Long.BYTES), callers);
    }

    /** Returns the return address at this offset from the stack pointer; 0 if it is unknown. */
    long caller(int offset) {
      return callers.stream()
          .filter(word -> word != 0 && word >>> ADDRESS_BITS == offset / Long.BYTES)
          .mapToLong(word -> word & (1L << ADDRESS_BITS) - 1)
          .findFirst()
          .orElse(0);
    }
  }

  /**
   * The id of a stack in the kernel's map, negative if there is none, and the innermost frames that
   * are not part of it.
   */
  record Frames(int number, List<Long> first) {

    private static Frames in(MemorySegment key, int at) {
      List<Long> first = new ArrayList<>();
      for (int i = 0; i < key.get(JAVA_INT, at + 4L); i++) {
        first.add(key.get(JAVA_LONG, at + 8L + (long) i * Long.BYTES));
      }
      return new Frames(key.get(JAVA_INT, at), first);
    }
  }

  /** The sums of one stack. */
  record Sum(long count, long nanos, long bytes) {

    static Sum in(MemorySegment sum) {
      return new Sum(sum.get(JAVA_LONG, 0), sum.get(JAVA_LONG, 8), sum.get(JAVA_LONG, 16));
    }

    Sum plus(Sum other) {
      return new Sum(count + other.count, nanos + other.nanos, bytes + other.bytes);
    }

    long of(Unit unit) {
      return switch (unit) {
        case SAMPLES, CALLS -> count;
        case NANOS -> nanos;
        case MICROS -> nanos / 1000;
        case BYTES -> bytes;
      };
    }
  }

  Map<Stack, Sum> counted() {
    BpfMap map = programs.map("stack_counts");
    Map<Stack, Sum> counted = new HashMap<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
      MemorySegment sum = arena.allocate(SUM_BYTES, Long.BYTES);
      boolean more = map.nextKey(MemorySegment.NULL, key);
      // Bounded, because the kernel adds entries during the iteration.
      for (int i = 0; more && i < map.maxEntries(); i++) {
        if (map.get(key, sum)) {
          counted.put(Stack.in(key), Sum.in(sum));
        }
        more = map.nextKey(key, key);
      }
    }
    return counted;
  }

  /**
   * Passes on each process that has executed a program or mapped other code since the last call.
   */
  void takeImages(Consumer<Image> each) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocate(IMAGE_BYTES, Long.BYTES);
      while (programs.map("new_images").take(image)) {
        each.accept(new Image(image.get(JAVA_INT, 0), image.get(JAVA_LONG, Long.BYTES)));
      }
    }
  }

  /** Returns the addresses, the innermost first. */
  long[] addresses(Frames frames) {
    LongStream first = frames.first().stream().mapToLong(Long::longValue);
    if (frames.number() < 0) {
      return first.filter(address -> address != 0).toArray();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rest = arena.allocate(JAVA_LONG, FRAMES);
      boolean known =
          programs.map("stacks").get(arena.allocateFrom(JAVA_INT, frames.number()), rest);
      int count = 0;
      while (known && count < FRAMES && rest.getAtIndex(JAVA_LONG, count) != 0) {
        count++;
      }
      long[] addresses = rest.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
      return LongStream.concat(first, Arrays.stream(addresses)).toArray();
    }
  }
}
