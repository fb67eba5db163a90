package io.inferspan.ebpf.batch;

import org.jspecify.annotations.Nullable;

/** What is known of a request in an engine: where it came from, and its part in steps. */
final class BatchRequest {

  final String id;

  /** Null if no sampled request has its id, or several live ones have. */
  @Nullable RequestHead head;

  /** Its part in steps is known from messages of the engine, not from a plugin. */
  boolean frames;

  final PhaseTotals prefill = new PhaseTotals();
  final PhaseTotals decode = new PhaseTotals();

  /** Slots that stand for it: one per rank and parallel sample. */
  int slots;

  /** Steps that were reported in its time, and those of them of which something is not known. */
  long steps;

  long incompleteSteps;
  long touchedNanos;

  /** When it is written; 0 while it is live. */
  long dueNanos;

  BatchRequest(String id, @Nullable RequestHead head) {
    this.id = id;
    this.head = head;
  }

  /** Adds the request's part in a step that is done. */
  void add(Step step, int index, long doneNanos) {
    PhaseTotals phase = step.prefill[index] ? prefill : decode;
    phase.add(step, index, doneNanos);
    steps++;
    if (!step.complete) {
      incompleteSteps++;
    }
  }

  /** Counts steps that may have run this request, without its part in them being known. */
  void miss(long missed) {
    steps += missed;
    incompleteSteps += missed;
  }

  double coverage() {
    return steps == 0 ? 1 : (steps - incompleteSteps) / (double) steps;
  }
}
