package io.inferspan.pd.config.text;

/** Reports an invalid text; the message describes the problem. */
public final class TextException extends Exception {

  public TextException(String problem) {
    super(problem, null, false, false);
  }

  /** Returns the problem, as the end of a sentence. */
  public String problem() {
    return String.valueOf(getMessage());
  }
}
