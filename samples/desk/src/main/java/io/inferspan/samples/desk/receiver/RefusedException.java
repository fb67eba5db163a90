package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drop;

/** A refused call. */
final class RefusedException extends Exception {

  private final transient Refusal refusal;
  private final Drop drop;

  RefusedException(Refusal refusal, Drop drop) {
    // Without a stack trace, so that a hostile sender cannot cost CPU.
    super(refusal.sentence(), null, false, false);
    this.refusal = refusal;
    this.drop = drop;
  }

  Refusal refusal() {
    return refusal;
  }

  /** The counter to increase. */
  Drop drop() {
    return drop;
  }
}
