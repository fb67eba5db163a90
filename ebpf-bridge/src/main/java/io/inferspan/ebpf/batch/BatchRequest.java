package io.inferspan.ebpf.batch;

import org.jspecify.annotations.Nullable;

/**
 * A request in an engine: its HTTP head, which contains the trace context, and its totals over the
 * steps that ran it.
 */
final class BatchRequest {

  final String id;

  /**
   * The head of the request; null if no sampled request has this id, or if several live requests
   * have it.
   */
  @Nullable RequestHead head;

  /** Whether its steps are known from the engine's messages rather than from a plugin. */
  boolean frames;

  final PhaseTotals prefill = new PhaseTotals();
  final PhaseTotals decode = new PhaseTotals();

  /** Number of its slots: one for each parallel sample in each rank. */
  int slots;

  /** Steps during its lifetime, and those of them with missing data. */
  long steps;

  long incompleteSteps;
  long touchedNanos;

  /** When its spans are due to be written; 0 while it is live. */
  long dueNanos;

  BatchRequest(String id, @Nullable RequestHead head) {
    this.id = id;
    this.head = head;
  }

  /** Adds the request's share of a step that is done. */
  void add(Step step, int index, long doneNanos) {
    PhaseTotals phase = step.prefill[index] ? prefill : decode;
    phase.add(step, index, doneNanos);
    steps++;
    if (!step.complete) {
      incompleteSteps++;
    }
  }

  /** Counts steps with missing data that may have run this request. */
  void miss(long missed) {
    steps += missed;
    incompleteSteps += missed;
  }

  double coverage() {
    return steps == 0 ? 1 : (steps - incompleteSteps) / (double) steps;
  }
}
