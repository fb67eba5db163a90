package io.inferspan.samples.desk.otlp;

/** Thrown for a request that is not valid OTLP. The reason is returned to the sender. */
public final class MalformedException extends Exception {

  private final String reason;

  /** Creates an exception with the reason. */
  public MalformedException(String reason) {
    // No stack trace: a hostile sender could otherwise use up CPU time.
    super(reason, null, false, false);
    this.reason = reason;
  }

  public String reason() {
    return reason;
  }
}
