package io.inferspan.ebpf.kernel;

/**
 * The CPU time of traps, the interruptions of threads by probes, without that of the programs at
 * the probes.
 *
 * @param entryNanos at a function's entry
 * @param returnNanos at its return, in addition
 * @param callEndNanos at each end of a system call, because watched calls take a slower path
 * @param measured whether it was measured on this machine
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
