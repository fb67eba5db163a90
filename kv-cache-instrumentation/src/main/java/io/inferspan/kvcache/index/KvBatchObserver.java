package io.inferspan.kvcache.index;

import io.opentelemetry.context.Context;

/** Observes batches as they enter the index. It runs on a worker's thread and must be quick. */
@FunctionalInterface
public interface KvBatchObserver {

  /** Observes nothing. */
  KvBatchObserver NONE = batch -> Observation.NONE;

  /**
   * The metadata of a batch.
   *
   * @param pod the pod whose blocks it reports
   * @param endpoint the publisher's endpoint
   * @param topic the topic; empty if a replay has none
   * @param sequence the publisher's sequence number
   * @param bytes its size
   * @param events the number of events in it
   */
  record Batch(String pod, String endpoint, String topic, long sequence, int bytes, int events) {}

  /** A batch that is being applied to the index. */
  interface Observation extends AutoCloseable {

    /** Observes nothing. */
    Observation NONE =
        new Observation() {
          @Override
          public Context context() {
            return Context.root();
          }

          @Override
          public void close() {}
        };

    /** Returns the context for the index's writes. */
    Context context();

    /** Ends the observation: the batch is applied, or its writes are under way. */
    @Override
    void close();
  }

  /** Called when a batch starts to enter the index. */
  Observation begin(Batch batch);
}
