package io.inferspan.pd.metrics;

import java.util.Locale;

/** The API of a request, as a metric label. */
public enum Api {
  /** Chat completions, completions and messages. */
  CHAT_COMPLETIONS,
  /** The responses API. */
  RESPONSES,
  /** The engine's own token-in, token-out API. */
  GENERATE,
  /** Requests that are passed to the decoder unchanged. */
  PASSTHROUGH;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Returns the value of the label {@code api_type}. */
  public String label() {
    return label;
  }
}
