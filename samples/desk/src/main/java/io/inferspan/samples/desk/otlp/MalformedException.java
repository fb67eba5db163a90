package io.inferspan.samples.desk.otlp;

/** Thrown for bytes that are not OTLP; the message is one sentence for the sender. */
public final class MalformedException extends Exception {

  private final String reason;

  /** Creates an exception with the reason. */
  public MalformedException(String reason) {
    // Without a stack trace, so that a hostile sender cannot cost CPU.
    super(reason, null, false, false);
    this.reason = reason;
  }

  /** The reason. */
  public String reason() {
    return reason;
  }
}
