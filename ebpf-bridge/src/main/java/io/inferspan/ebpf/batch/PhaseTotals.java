package io.inferspan.ebpf.batch;

/** Totals over the steps of a request in one phase: prefill or decode. */
final class PhaseTotals {

  long steps;
  long tokens;

  /** The request's share of the busy time of its steps. */
  long shareNanos;

  /** The time in which the device worked for the steps of the request. */
  long busyNanos;

  /** Maximum error of {@link #shareNanos}. */
  long errorBoundNanos;

  /** Steps whose membership is inferred rather than observed. */
  long inferred;

  /**
   * Steps whose busy time begins at the start of the step, because launches were not all reported.
   */
  long fromMarks;

  /** Steps whose busy time was measured on the host. */
  long onHost;

  long beganNanos = Long.MAX_VALUE;
  long endedNanos = Long.MIN_VALUE;

  private long lastStep;
  private int pid;

  /**
   * Adds a step. Steps and tokens are counted for one rank only, because all ranks run the same
   * steps.
   */
  void add(Step step, int index, long doneNanos) {
    if (pid == 0) {
      pid = step.pid;
    }
    if (step.pid == pid) {
      steps += step.number == lastStep ? 0 : 1; // Parallel samples may share a step.
      tokens += step.tokens[index];
      lastStep = step.number;
    }
    long share = step.shares[index];
    shareNanos += share;
    busyNanos += step.busyNanos;
    boolean alone = step.size == 1 && !step.frames && !step.isLowered();
    errorBoundNanos += alone ? 0 : Math.max(share, step.busyNanos - share);
    fromMarks += step.isLowered() && !step.onDevice ? 1 : 0;
    onHost += step.onDevice ? 0 : 1;
    inferred += step.inferred[index] ? 1 : 0;
    beganNanos = Math.min(beganNanos, step.beganNanos);
    endedNanos = Math.max(endedNanos, doneNanos);
  }
}
