package io.inferspan.ebpf.batch;

/** Takes steps and requests that are done; both are written once. */
interface BatchSink {

  void step(Step step, long doneNanos);

  void request(BatchRequest request);
}
