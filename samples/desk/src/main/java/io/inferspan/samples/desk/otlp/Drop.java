package io.inferspan.samples.desk.otlp;

import java.util.Locale;

/** Reasons for dropping or cutting received data. */
public enum Drop {
  /** Spans of the oldest trace, dropped to make room. */
  OLDEST_TRACE,
  /** Spans beyond the limit of one trace. */
  TRACE_FULL,
  /** Timelines of cold starts, dropped to make room. */
  OLDEST_TIMELINE,
  /** Updates of a trace that could not be summarised. */
  NOT_SUMMARISED,
  /** Spans without a valid trace or span id. */
  NO_ID,
  /** Texts longer than the limit. */
  TEXT_CUT,
  /** Attributes, events and links beyond the limits of a span. */
  PART_TOO_LARGE,
  /** Calls with malformed OTLP. */
  MALFORMED_CALL,
  /** Calls beyond the size limit. */
  CALL_TOO_LARGE,
  /** Calls refused because too many were being read. */
  BUSY;

  /** The name in {@code /api/stats}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
