package io.inferspan.pd.metrics;

/** The API that a request speaks, as metrics name it. */
public enum Api {
  /** Chat completions, completions and messages. */
  CHAT_COMPLETIONS("chat_completions"),
  /** Responses. */
  RESPONSES("responses"),
  /** The engine's own token-in, token-out API. */
  GENERATE("generate"),
  /** Requests that are passed to the decoder unchanged. */
  PASSTHROUGH("passthrough");

  private final String label;

  Api(String label) {
    this.label = label;
  }

  /** Its value of the label {@code api_type}. */
  public String label() {
    return label;
  }
}
