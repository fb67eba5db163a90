package io.inferspan.samples.desk.store;

/**
 * How much is kept.
 *
 * @param maxSpans in all
 * @param maxBytes in all, as {@link io.inferspan.samples.desk.otlp.StoredSpan#cost()} counts them
 * @param maxSpansPerTrace of one trace
 */
public record Bounds(long maxSpans, long maxBytes, int maxSpansPerTrace) {

  /** What one answer can hold, and one page can draw. */
  public static final int USUAL_SPANS_PER_TRACE = 20_000;

  /** Of a full trace, what is kept free for the spans that everything else hangs under. */
  private static final int RESERVE_PART = 20;

  /** One trace may have a part of all bytes only, so that others are kept beside it. */
  private static final int TRACE_PART = 4;

  /** The usual bound for one trace. */
  public static Bounds of(long maxSpans, long maxBytes) {
    return new Bounds(maxSpans, maxBytes, (int) Math.min(USUAL_SPANS_PER_TRACE, maxSpans));
  }

  boolean hold(long spans, long bytes) {
    return spans <= maxSpans && bytes <= maxBytes;
  }

  /** Whether a trace that has so much may take one span more. */
  boolean holdOneMore(StoredTrace trace, boolean important) {
    int reserve = important ? 0 : maxSpansPerTrace / RESERVE_PART;
    return trace.size() < maxSpansPerTrace - reserve && trace.bytes() < maxBytes / TRACE_PART;
  }
}
