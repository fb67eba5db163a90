package io.inferspan.extproc.wire;

/** Bytes that are not the message they should be; the reason holds nothing of them. */
public final class MalformedMessageException extends Exception {

  /**
   * An exception without a stack trace: a client that sends rubbish must not make us walk stacks.
   */
  public MalformedMessageException(String reason) {
    super(reason, null, false, false);
  }

  /** Returns what is wrong with the bytes. */
  public String reason() {
    return String.valueOf(getMessage());
  }
}
