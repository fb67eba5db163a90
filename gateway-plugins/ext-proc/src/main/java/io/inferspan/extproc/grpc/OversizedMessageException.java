package io.inferspan.extproc.grpc;

/** A message that is not let in, of which nothing but its length was read. */
public final class OversizedMessageException extends Exception {

  /** The reason for the rejection. */
  public enum Cause {
    /** It says that it is longer than any may be. */
    TOO_LONG,
    /** There is no room for it among all that is held. */
    NO_ROOM
  }

  private final Cause why;

  /** Without a stack trace: a client that claims a length must not make us walk stacks. */
  OversizedMessageException(Cause why, String message) {
    super(message, null, false, false);
    this.why = why;
  }

  /** Returns the reason. */
  public Cause why() {
    return why;
  }
}
