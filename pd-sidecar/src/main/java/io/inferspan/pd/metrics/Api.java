package io.inferspan.pd.metrics;

import java.util.Locale;

/** The API that a request speaks, as metrics name it. */
public enum Api {
  /** Chat completions, completions and messages. */
  CHAT_COMPLETIONS,
  /** Responses. */
  RESPONSES,
  /** The engine's own token-in, token-out API. */
  GENERATE,
  /** Requests that are passed to the decoder unchanged. */
  PASSTHROUGH;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Its value of the label {@code api_type}. */
  public String label() {
    return label;
  }
}
