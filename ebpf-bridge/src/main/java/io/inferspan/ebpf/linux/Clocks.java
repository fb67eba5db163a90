package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The kernel's clocks in nanoseconds. */
public final class Clocks {

  private static final int REALTIME = 0;
  private static final int MONOTONIC = 1;
  private static final int PROCESS_CPU = 2;
  private static final int BOOTTIME = 7;

  /**
   * A thread's clock id is the complement of its tid, shifted left by this number of bits, and the
   * kind of clock.
   */
  private static final int CLOCK_BITS = 3;

  private static final int THREAD_CPU = 6;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /** The C library's function, which needs no system call. */
  private static final MethodHandle CLOCK_GETTIME = handle();

  private static final ThreadLocal<MemorySegment> TIMESPEC =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 8));

  private Clocks() {}

  /** Returns the time since boot without suspended time: the clock of events. */
  public static long monotonicNanos() {
    return nanos(MONOTONIC);
  }

  /** Returns the time since boot including suspended time. */
  public static long boottimeNanos() {
    return nanos(BOOTTIME);
  }

  /** Returns the time since the epoch, which can jump forward and backward. */
  public static long realtimeNanos() {
    return nanos(REALTIME);
  }

  /** Returns the CPU time that this process has used. */
  public static long processCpuNanos() {
    return nanos(PROCESS_CPU);
  }

  /**
   * Returns the CPU time that a thread of this process has used; zero if it has ended. The tid of
   * the calling thread may be given as 0.
   */
  public static long threadCpuNanos(int tid) {
    return nanos(~tid << CLOCK_BITS | THREAD_CPU);
  }

  private static long nanos(int clock) {
    MemorySegment timespec = TIMESPEC.get();
    try {
      if ((int) CLOCK_GETTIME.invokeExact(clock, timespec) != 0) {
        return 0;
      }
    } catch (Throwable unexpected) {
      throw new IllegalStateException("reading a clock", unexpected);
    }
    return timespec.get(JAVA_LONG, 0) * NANOS_PER_SECOND + timespec.get(JAVA_LONG, Long.BYTES);
  }

  /**
   * Links {@code clock_gettime} as critical, because it never blocks and is shorter than the JVM's
   * thread state transition.
   */
  @SuppressWarnings("restricted")
  private static MethodHandle handle() {
    return Linker.nativeLinker()
        .downcallHandle(
            NativeLibrary.c().address("clock_gettime"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS),
            Linker.Option.critical(false));
  }
}
