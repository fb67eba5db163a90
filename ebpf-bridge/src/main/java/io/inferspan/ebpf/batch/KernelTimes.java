package io.inferspan.ebpf.batch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * When the device ran the kernels of a process, from the activity records that a profiler in the
 * process reads from CUPTI.
 *
 * <p>Times are nanoseconds since the epoch. A record identifies its launch by a correlation id. The
 * bridge's own events have no such id, so kernels are matched to steps by time. A step gets a
 * device time only if the number of launches that have kernels agrees with the number of launches
 * that the step made.
 */
final class KernelTimes {

  /** How long after a step is done its records are still used. */
  static final long LATEST_NANOS = 10_000_000_000L;

  private static final int MAX_KERNELS = 1 << 18;

  /**
   * How much earlier than its launch a kernel may seem to start, because the two times are from
   * different clocks.
   */
  private static final long CLOCK_NANOS = 100_000;

  private record Kernel(long correlation, long startNanos, long endNanos) {}

  private final PriorityQueue<Kernel> kernels =
      new PriorityQueue<>(Comparator.comparingLong(Kernel::startNanos));

  /** Launches that had a kernel in the last step's window; their other kernels may run later. */
  private Set<Long> launched = new HashSet<>();

  /** Launches of later steps whose kernels began before the last step was seen to be done. */
  private long ahead;

  /** Whether {@link #ahead} is known. */
  private boolean known;

  private long readNanos;

  /**
   * Adds a kernel. If there is no room, or the record has no times, the kernel is dropped, and its
   * step gets no device time.
   */
  void add(long correlation, long startNanos, long endNanos, long nowNanos) {
    readNanos = nowNanos;
    if (startNanos > 0 && endNanos >= startNanos && kernels.size() < MAX_KERNELS) {
      kernels.add(new Kernel(correlation, startNanos, endNanos));
    }
  }

  /** Returns whether steps that are done now should wait for records. */
  boolean areRead(long nanos) {
    return readNanos > 0 && nanos - readNanos < LATEST_NANOS;
  }

  /**
   * Returns how long at least one kernel ran in a step, in nanoseconds, or -1 if not all of its
   * launches have kernels. Must be called for each step, in order.
   *
   * @param fromNanos when the step made its first launch or the step before it was done, whichever
   *     is later
   * @param toNanos when the step was done
   * @param idle whether no other step was in flight at the step's first launch
   * @param launches the number of the step's launches
   * @param later the number of launches that later steps had made when this step was seen to be
   *     done
   */
  long busy(long fromNanos, long toNanos, boolean idle, long launches, long later) {
    long from = idle ? fromNanos - CLOCK_NANOS : fromNanos;
    Set<Long> now = new HashSet<>();
    List<Kernel> cut = new ArrayList<>();
    long busy = 0;
    long reached = from;
    Kernel next = kernels.peek();
    while (next != null && next.startNanos <= toNanos) {
      Kernel kernel = kernels.remove();
      next = kernels.peek();
      if (kernel.startNanos < from) {
        continue;
      }
      now.add(kernel.correlation);
      long end = Math.min(kernel.endNanos, toNanos);
      busy += Math.max(0, end - Math.max(kernel.startNanos, reached));
      reached = Math.max(reached, end);
      if (kernel.endNanos > toNanos) {
        cut.add(new Kernel(kernel.correlation, toNanos, kernel.endNanos));
      }
    }
    kernels.addAll(cut);
    long before = idle ? 0 : now.stream().filter(launched::contains).count();
    launched = now;
    ahead = (idle ? 0 : ahead) + now.size() - before - launches;
    known = (idle || known) && ahead >= 0 && ahead <= later;
    return known ? busy : -1;
  }
}
