package io.inferspan.extproc.grpc;

/** Thrown for a message that is rejected because of its length, before it is read. */
public final class OversizedMessageException extends Exception {

  /** The reason for the rejection. */
  public enum Cause {
    /** Its declared length exceeds the limit for one message. */
    TOO_LONG,
    /** The limit for all held bytes is reached. */
    NO_ROOM
  }

  private final Cause why;

  /** Creates an exception without a stack trace, because clients can cause it at any rate. */
  OversizedMessageException(Cause why, String message) {
    super(message, null, false, false);
    this.why = why;
  }

  /** Returns the reason. */
  public Cause why() {
    return why;
  }
}
