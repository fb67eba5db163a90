package io.inferspan.ebpf.kernel;

/**
 * The CPU time that probes cost in addition to their programs, because a probe interrupts the
 * thread with a trap.
 *
 * @param entryNanos the time at the entry of a function
 * @param returnNanos the time at the return of a function, in addition to {@code entryNanos}
 * @param callEndNanos the time at the entry and again at the exit of a system call, because
 *     observed calls take a slower path
 * @param measured whether the times were measured on this machine
 */
public record TrapTimes(
    double entryNanos, double returnNanos, double callEndNanos, boolean measured) {

  /** The times for machines on which they cannot be measured: upper estimates. */
  public static final TrapTimes ASSUMED = new TrapTimes(1_000, 1_000, 100, false);

  @Override
  public String toString() {
    return "%.0f ns at a function, %.0f ns at its return, %.0f ns at each end of a system call"
        .formatted(entryNanos, returnNanos, callEndNanos);
  }
}
