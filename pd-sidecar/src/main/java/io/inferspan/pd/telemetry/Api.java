package io.inferspan.pd.telemetry;

import java.util.Locale;

/** The API of a request, as a metric label. */
public enum Api {
  /** Chat completions, completions and messages. */
  CHAT_COMPLETIONS,
  RESPONSES,
  /** The engine's own token-in, token-out API. */
  GENERATE,
  /** Requests that are passed to the decoder unchanged. */
  PASSTHROUGH;

  private final String label = name().toLowerCase(Locale.ROOT);

  public String label() {
    return label;
  }
}
