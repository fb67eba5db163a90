package io.inferspan.kvcache.events;

import io.opentelemetry.context.Context;

/** Is told when a batch enters the index; on a worker's thread, so it should be quick. */
@FunctionalInterface
public interface KvBatchObserver {

  /** Looks at nothing. */
  KvBatchObserver NONE = batch -> Observation.NONE;

  /**
   * What is known of a batch beside its events.
   *
   * @param pod whose blocks it tells of
   * @param endpoint where it came from
   * @param topic what it was published on; empty where a replay did not say
   * @param sequence the publisher's number of it
   * @param bytes its size
   * @param events how many events are in it
   */
  record Batch(String pod, String endpoint, String topic, long sequence, int bytes, int events) {}

  /** A batch that is entering the index. */
  interface Observation extends AutoCloseable {

    /** Looks at nothing. */
    Observation NONE =
        new Observation() {
          @Override
          public Context context() {
            return Context.root();
          }

          @Override
          public void close() {}
        };

    /** The context that the index's writes are made in. */
    Context context();

    /** The batch has entered, or its writes are under way. */
    @Override
    void close();
  }

  /** A batch begins to enter the index. */
  Observation begin(Batch batch);
}
