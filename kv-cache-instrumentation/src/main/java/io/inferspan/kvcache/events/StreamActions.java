package io.inferspan.kvcache.events;

/** What a stream has done for it; a worker does it. */
interface StreamActions {

  KvEventCounts counts();

  ReplayLimits limits();

  /** Lets a batch change the index. */
  void apply(Stream stream, Message message, KvEventBatch batch);

  /** Forgets all blocks of the stream's pod. */
  void invalidate(Stream stream);

  /** Starts a replay. */
  void replay(Replay replay);

  /** Calls {@link Stream#quiet} once nothing waits. */
  void watch(Stream stream);
}
