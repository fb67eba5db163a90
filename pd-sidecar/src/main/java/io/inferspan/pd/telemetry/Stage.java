package io.inferspan.pd.telemetry;

import java.util.Locale;

/** A stage of a request, as a metric label. */
public enum Stage {
  PREFILL,
  DECODE,
  /** Encoding media on other pods. */
  ENCODE,
  /** The whole request; for failures, those that belong to no other stage. */
  REQUEST;

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
