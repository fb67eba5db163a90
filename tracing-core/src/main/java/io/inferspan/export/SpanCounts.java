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
   * @param queueFull the export queue was full or nearly full
   * @param exportFailed the exporter failed
   * @param shutdown not exported when the {@code Telemetry} was closed
   * @param neverEnded not ended when the {@code Telemetry} was closed
   */
  public record Dropped(long queueFull, long exportFailed, long shutdown, long neverEnded) {

    /** Returns the sum. */
    public long total() {
      return queueFull + exportFailed + shutdown + neverEnded;
    }
  }
}
