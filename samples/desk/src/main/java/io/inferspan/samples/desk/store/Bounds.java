package io.inferspan.samples.desk.store;

/**
 * Limits of the store.
 *
 * @param maxSpans the maximum number of spans
 * @param maxBytes the maximum sum of {@link io.inferspan.samples.desk.otlp.StoredSpan#cost()}
 * @param maxSpansPerTrace the maximum number of spans of one trace
 */
public record Bounds(long maxSpans, long maxBytes, int maxSpansPerTrace) {

  /** The default maximum number of spans per trace, and the most that the page displays. */
  public static final int DEFAULT_SPANS_PER_TRACE = 20_000;

  /** The reserve for important spans, which are root spans: 1/20 of the maximum per trace. */
  private static final int RESERVE_PART = 20;

  /** The maximum size of one trace: 1/4 of the maximum of all traces. */
  private static final int TRACE_PART = 4;

  /** Returns limits with the default maximum per trace. */
  public static Bounds of(long maxSpans, long maxBytes) {
    return new Bounds(maxSpans, maxBytes, (int) Math.min(DEFAULT_SPANS_PER_TRACE, maxSpans));
  }

  boolean allows(long spans, long bytes) {
    return spans <= maxSpans && bytes <= maxBytes;
  }

  /** Returns whether a trace may store another span. */
  boolean hasRoomFor(StoredTrace trace, boolean important) {
    int reserve = important ? 0 : maxSpansPerTrace / RESERVE_PART;
    return trace.size() < maxSpansPerTrace - reserve && trace.bytes() < maxBytes / TRACE_PART;
  }
}
