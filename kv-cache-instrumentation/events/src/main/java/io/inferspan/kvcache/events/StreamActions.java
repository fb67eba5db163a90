package io.inferspan.kvcache.events;

/** Operations that a stream requests from its worker. */
interface StreamActions {

  KvEventCounts counts();

  ReplayLimits limits();

  /** Applies a batch to the index. */
  void apply(Stream stream, Message message, KvEventBatch batch);

  /** Forgets all blocks of the stream's pod. */
  void invalidate(Stream stream);

  /** Starts a replay. */
  void replay(Replay replay);

  /** Calls {@link Stream#quiet} once the queue is empty. */
  void watch(Stream stream);
}
