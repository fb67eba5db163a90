package io.inferspan.pd.metrics;

import java.util.Locale;

/** A part of serving a request, as metrics name it. */
public enum Stage {
  /** Filling the KV cache elsewhere. */
  PREFILL,
  /** Generating here. */
  DECODE,
  /** Encoding media on other pods. */
  ENCODE,
  /** The request as a whole; as a failure, one that belongs to no other stage. */
  REQUEST;

  /** Its value of the label {@code stage}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
