package io.inferspan.ebpf.policy;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The parameters of a policy or profiler; zero selects the default of the program.
 *
 * @param oneIn one in this many calls is kept
 * @param perSecond the number of calls of a kind that are kept per second
 * @param permille the share of calls that are not slow, in thousandths
 * @param targetNanos the target for the time to the first byte of a response
 */
public record Parameters(int oneIn, int perSecond, int permille, long targetNanos) {

  /** The size of {@code struct ispan_parameters}. */
  static final int BYTES = 24;

  /** Selects all defaults of the program. */
  public static final Parameters DEFAULTS = new Parameters(0, 0, 0, 0);

  MemorySegment in(Arena arena, int generation) {
    MemorySegment memory = arena.allocate(BYTES, Long.BYTES);
    memory.set(JAVA_INT, 0, generation);
    memory.set(JAVA_INT, 4, oneIn);
    memory.set(JAVA_INT, 8, perSecond);
    memory.set(JAVA_INT, 12, permille);
    memory.set(JAVA_LONG, 16, targetNanos);
    return memory;
  }
}
