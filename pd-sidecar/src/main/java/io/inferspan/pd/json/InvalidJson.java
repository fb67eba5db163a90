package io.inferspan.pd.json;

/**
 * Says that bytes are not the JSON they should be; tells where and why, never what stands there.
 */
public final class InvalidJson extends Exception {
  private static final long serialVersionUID = 1L;

  // No stack trace: clients provoke these, and the place in our code says nothing about theirs.
  InvalidJson(String message) {
    super(message, null, false, false);
  }
}
