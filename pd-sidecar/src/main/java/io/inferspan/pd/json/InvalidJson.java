package io.inferspan.pd.json;

/** Reports invalid JSON: the position and the reason, never the content. */
public final class InvalidJson extends Exception {
  private static final long serialVersionUID = 1L;

  // No stack trace: clients provoke these, and the place in our code says nothing about theirs.
  InvalidJson(String message) {
    super(message, null, false, false);
  }
}
