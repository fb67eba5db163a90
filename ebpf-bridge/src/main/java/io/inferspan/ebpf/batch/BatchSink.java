package io.inferspan.ebpf.batch;

/** Receives each completed step and each completed request once. */
interface BatchSink {

  void step(Step step, long doneNanos);

  void request(BatchRequest request);
}
