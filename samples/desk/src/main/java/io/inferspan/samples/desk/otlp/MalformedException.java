package io.inferspan.samples.desk.otlp;

/** Bytes that are no OTLP; its message is a sentence for who sent them. */
public final class MalformedException extends Exception {

  private final String reason;

  /** Says what is wrong. */
  public MalformedException(String reason) {
    // A hostile sender should not have us walk stacks.
    super(reason, null, false, false);
    this.reason = reason;
  }

  /** What is wrong. */
  public String reason() {
    return reason;
  }
}
