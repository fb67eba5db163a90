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

  private final String label = name().toLowerCase(Locale.ROOT);

  public String label() {
    return label;
  }
}
