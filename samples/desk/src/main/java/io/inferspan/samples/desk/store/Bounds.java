package io.inferspan.samples.desk.store;

/**
 * Limits of the store.
 *
 * @param maxSpans in all
 * @param maxBytes in all, counted by {@link io.inferspan.samples.desk.otlp.StoredSpan#cost()}
 * @param maxSpansPerTrace of one trace
 */
public record Bounds(long maxSpans, long maxBytes, int maxSpansPerTrace) {

  /** The number of spans that a page can show. */
  public static final int USUAL_SPANS_PER_TRACE = 20_000;

  /** Share of a trace that is reserved for its root spans. */
  private static final int RESERVE_PART = 20;

  /** The part of all bytes that one trace may use. */
  private static final int TRACE_PART = 4;

  /** Returns limits with the default for one trace. */
  public static Bounds of(long maxSpans, long maxBytes) {
    return new Bounds(maxSpans, maxBytes, (int) Math.min(USUAL_SPANS_PER_TRACE, maxSpans));
  }

  boolean hold(long spans, long bytes) {
    return spans <= maxSpans && bytes <= maxBytes;
  }

  /** Returns whether a trace may store another span. */
  boolean holdOneMore(StoredTrace trace, boolean important) {
    int reserve = important ? 0 : maxSpansPerTrace / RESERVE_PART;
    return trace.size() < maxSpansPerTrace - reserve && trace.bytes() < maxBytes / TRACE_PART;
  }
}
