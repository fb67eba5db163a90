package io.inferspan.ebpf.spans;

/**
 * A history of the numbers of received and lost events, so that a span can state what it may be
 * missing.
 *
 * <p>The request of a lost event is unknown, so an event that was lost while several spans ran
 * counts for each of them.
 */
final class LossTimeline {

  private static final int HISTORY = 2_048;

  /**
   * The minimum time between two samples. If the last two are closer, a new sample replaces the
   * last one, so that the history covers more time.
   */
  private static final long CLOSE_NANOS = 1_000_000;

  private final long[] times = new long[HISTORY];
  private final long[] seen = new long[HISTORY];
  private final long[] lost = new long[HISTORY];
  private long samples;

  /** Adds a sample of the two totals. */
  void note(long nowNanos, long eventsSeen, long eventsLost) {
    boolean replaces =
        samples >= 2 && times[slot(samples - 1)] - times[slot(samples - 2)] < CLOSE_NANOS;
    int slot = slot(replaces ? samples - 1 : samples++);
    times[slot] = nowNanos;
    seen[slot] = eventsSeen;
    lost[slot] = eventsLost;
  }

  /**
   * Returns the events lost between the last sample before {@code start} and the first one after
   * {@code end}.
   */
  long lost(long startNanos, long endNanos) {
    return samples == 0 ? 0 : lost[after(endNanos)] - lost[before(startNanos)];
  }

  /** Returns the share of events in an interval that were not lost. */
  double coverage(long startNanos, long endNanos) {
    long missing = lost(startNanos, endNanos);
    long received = samples == 0 ? 0 : seen[after(endNanos)] - seen[before(startNanos)];
    return missing == 0 ? 1 : received / (double) (received + missing);
  }

  private int before(long nanos) {
    long oldest = Math.max(0, samples - HISTORY);
    return slot(Math.max(oldest, firstAbove(nanos) - 1));
  }

  private int after(long nanos) {
    return slot(Math.min(samples - 1, firstAbove(nanos - 1)));
  }

  /** Returns the first sample later than {@code nanos}, or the next one to be added. */
  private long firstAbove(long nanos) {
    long low = Math.max(0, samples - HISTORY);
    long high = samples;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (times[slot(middle)] <= nanos) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static int slot(long sample) {
    return (int) (sample % HISTORY);
  }
}
