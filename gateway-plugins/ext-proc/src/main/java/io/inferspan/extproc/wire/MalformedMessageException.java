package io.inferspan.extproc.wire;

/** Thrown for bytes that are not a valid message; the reason does not contain them. */
public final class MalformedMessageException extends Exception {

  /** Creates an exception without a stack trace, so that clients cannot cause the cost of one. */
  public MalformedMessageException(String reason) {
    super(reason, null, false, false);
  }

  /** Returns what is wrong with the bytes. */
  public String reason() {
    return String.valueOf(getMessage());
  }
}
