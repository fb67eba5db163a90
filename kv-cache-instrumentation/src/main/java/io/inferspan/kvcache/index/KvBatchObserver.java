package io.inferspan.kvcache.index;

import io.opentelemetry.context.Context;

/**
 * Observes batches of engines' KV events as they are applied to an index. It is called on a thread
 * that applies batches, and must be quick.
 */
@FunctionalInterface
public interface KvBatchObserver {

  /** Observes nothing. */
  KvBatchObserver NONE = batch -> Observation.NONE;

  /**
   * The metadata of a batch.
   *
   * @param pod the pod whose blocks it reports
   * @param endpoint the publisher's endpoint; empty if the publisher connects to the subscriber
   * @param topic the topic; empty if a replay has none
   * @param sequence the publisher's sequence number
   * @param bytes the size of its message
   * @param events the number of events in it
   */
  record Batch(String pod, String endpoint, String topic, long sequence, int bytes, int events) {}

  /**
   * The observation of a batch that is being applied to the index.
   *
   * @param context the context for the index's writes
   * @param end called when the batch is applied, or its asynchronous writes have started
   */
  record Observation(Context context, Runnable end) implements AutoCloseable {

    /** Observes nothing. */
    public static final Observation NONE = new Observation(Context.root(), () -> {});

    /** Ends the observation. */
    @Override
    public void close() {
      end.run();
    }
  }

  /** Called when a batch starts to enter the index. */
  Observation begin(Batch batch);
}
