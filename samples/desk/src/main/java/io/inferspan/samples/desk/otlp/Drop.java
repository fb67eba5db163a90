package io.inferspan.samples.desk.otlp;

import java.util.Locale;

/** Reasons why received data is dropped or truncated. */
public enum Drop {
  /** Spans of the oldest trace, dropped to make room. */
  OLDEST_TRACE,
  /** Spans beyond the limit of one trace. */
  TRACE_FULL,
  /** The oldest timelines of cold starts, dropped to make room. */
  OLDEST_TIMELINE,
  /** Updates of traces whose summary could not be computed. */
  NOT_SUMMARISED,
  /** Spans without a valid trace or span id. */
  NO_ID,
  /** Texts truncated to the limit. */
  TEXT_CUT,
  /** Attributes, events and links larger than the limit, or in a span that is full. */
  PART_TOO_LARGE,
  /** Calls that are not valid OTLP export requests. */
  MALFORMED_CALL,
  /** Calls that the receiver failed to process. */
  FAILED_CALL,
  /** Calls beyond the size limit. */
  CALL_TOO_LARGE,
  /** Calls refused because the bodies of all calls in progress together exceed their limit. */
  BUSY;

  /** Returns the name in {@code /api/stats}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
