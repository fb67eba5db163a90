package io.inferspan.pd.json;

/** Reports invalid JSON: the position and the reason, never the content. */
public final class InvalidJson extends Exception {
  private static final long serialVersionUID = 1L;

  // No stack trace: clients cause these exceptions, and the position in this code is irrelevant.
  InvalidJson(String message) {
    super(message, null, false, false);
  }
}
