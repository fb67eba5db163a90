package io.inferspan.extproc.wire;

/** Thrown for bytes that are not a valid message; the reason does not contain them. */
public final class MalformedMessageException extends Exception {

  /** Creates an exception without a stack trace, because clients can cause it at any rate. */
  public MalformedMessageException(String reason) {
    super(reason, null, false, false);
  }

  /** Returns what is wrong with the bytes. */
  public String reason() {
    return String.valueOf(getMessage());
  }
}
