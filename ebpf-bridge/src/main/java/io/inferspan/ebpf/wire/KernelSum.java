package io.inferspan.ebpf.wire;

/**
 * The sum of the events of one owner and kind that were folded or dropped in the kernel since the
 * previous read.
 *
 * @param count the number of folded events, to which the durations and the amount refer
 * @param dropped the number of events that a policy dropped, or that a level only counted
 * @param minNanos the shortest duration since the owner began
 * @param maxNanos the longest duration since the owner began
 * @param firstNanos when the first event began, or when the last one of the previous read ended
 * @param lastNanos when the last event ended
 * @param generation the generation of the policy that decided last; zero if no policy decided
 */
public record KernelSum(
    Kind kind,
    long count,
    long dropped,
    long sumNanos,
    long minNanos,
    long maxNanos,
    long amount,
    long firstNanos,
    long lastNanos,
    int tgid,
    int source,
    int generation) {

  /** Returns the number of events that the span reports: folded ones, or those only counted. */
  public long reported() {
    return isCounted() ? dropped : count;
  }

  /** Returns the number of events that no span reports. */
  public long shed() {
    return isCounted() ? 0 : dropped;
  }

  private boolean isCounted() {
    return count == 0 && generation == 0;
  }
}
