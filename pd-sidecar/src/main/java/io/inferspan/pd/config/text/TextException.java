package io.inferspan.pd.config.text;

/** A text that is not in the form it should have; the message says what is wrong with it. */
public final class TextException extends Exception {

  public TextException(String problem) {
    super(problem, null, false, false);
  }

  /** What is wrong, as the end of a sentence. */
  public String problem() {
    return String.valueOf(getMessage());
  }
}
