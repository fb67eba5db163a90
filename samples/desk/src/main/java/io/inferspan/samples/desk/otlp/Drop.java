package io.inferspan.samples.desk.otlp;

import java.util.Locale;

/** Why something that was sent is not kept, or not whole. */
public enum Drop {
  /** Spans of the oldest trace, to make room. */
  OLDEST_TRACE,
  /** Spans of a trace that has as many as one may have. */
  TRACE_FULL,
  /** Changes of a trace of which no line of the list could be made. */
  NOT_SUMMARISED,
  /** Spans without a valid trace or span id. */
  NO_ID,
  /** Texts that were cut to the length that is kept. */
  TEXT_CUT,
  /** Attributes, events and links that were too large, or too many, for one span. */
  PART_TOO_LARGE,
  /** Calls whose bytes were no OTLP. */
  MALFORMED_CALL,
  /** Calls that were larger than is read. */
  CALL_TOO_LARGE,
  /** Calls that came while too many others were being read. */
  BUSY;

  /** The name that people see. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
