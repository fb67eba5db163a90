package io.inferspan.export;

/**
 * Counts of spans by outcome.
 *
 * @param started spans recorded
 * @param unsampled spans that only propagated their trace
 * @param ended recorded spans that have ended
 * @param exported spans that the exporter reported as sent
 * @param dropped spans lost, by reason
 */
public record SpanCounts(long started, long unsampled, long ended, long exported, Dropped dropped) {

  /**
   * Spans lost, by reason.
   *
   * @param queueFull the queue had no room
   * @param exportFailed the exporter failed
   * @param shutdown they were not exported before the telemetry was closed
   * @param neverEnded they had not ended before the telemetry was closed
   */
  public record Dropped(long queueFull, long exportFailed, long shutdown, long neverEnded) {

    /** Returns the sum. */
    public long total() {
      return queueFull + exportFailed + shutdown + neverEnded;
    }
  }
}
