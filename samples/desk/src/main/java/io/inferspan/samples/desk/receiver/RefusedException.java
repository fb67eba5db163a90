package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drop;

/** A call is not taken. */
final class RefusedException extends Exception {

  private final transient Refusal refusal;
  private final Drop drop;

  RefusedException(Refusal refusal, Drop drop) {
    // A hostile sender should not have us walk stacks.
    super(refusal.sentence(), null, false, false);
    this.refusal = refusal;
    this.drop = drop;
  }

  Refusal refusal() {
    return refusal;
  }

  /** What it is counted as. */
  Drop drop() {
    return drop;
  }
}
