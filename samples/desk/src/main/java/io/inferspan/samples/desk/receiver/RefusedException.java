package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drop;

/** Thrown if an export call is refused; has the error response and the counter to increment. */
final class RefusedException extends Exception {

  private final transient Refusal refusal;
  private final Drop drop;

  RefusedException(Refusal refusal, Drop drop) {
    // No stack trace: a hostile sender could otherwise use up CPU time.
    super(refusal.sentence(), null, false, false);
    this.refusal = refusal;
    this.drop = drop;
  }

  Refusal refusal() {
    return refusal;
  }

  /** Returns the counter to increment. */
  Drop drop() {
    return drop;
  }
}
