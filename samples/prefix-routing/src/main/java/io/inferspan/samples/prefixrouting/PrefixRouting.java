package io.inferspan.samples.prefixrouting;

import io.inferspan.Telemetry;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.LoadScorers;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.plugins.score.PrefixHits;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.kvcache.KvCacheIndexer;
import io.inferspan.kvcache.KvCacheTracing;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.score.PodScores;

/** Routes a request to the pod whose KV cache holds most of its prompt. */
public final class PrefixRouting {

  private PrefixRouting() {}

  /**
   * Returns a scheduler that prefers pods with the prompt's prefix, then pods with short queues.
   */
  static Scheduler over(BlockIndex index, BlockKeys keys, Telemetry telemetry) {
    return Scheduler.builder(new SingleProfileHandler())
        .profile(
            SchedulerProfile.named("default")
                .scorer(new PrecisePrefixCacheScorer(hits(index, keys, telemetry)), 3)
                .scorer(LoadScorers.queue(), 2)
                .picker(new MaxScorePicker()))
        .tracing(EppTracing.create(telemetry))
        .build();
  }

  /** Adapts the index to the prefix scorer: returns the index's scores by pod. */
  public static PrefixHits hits(BlockIndex index, BlockKeys keys, Telemetry telemetry) {
    KvCacheTracing tracing = KvCacheTracing.create(telemetry);
    KvCacheIndexer indexer =
        KvCacheIndexer.over(tracing.traced(index)).blockKeys(keys).tracing(tracing).build();
    return (tokens, model, pods, context) ->
        indexer.podScores(tokens, model, pods, context).thenApply(PodScores::asMap);
  }
}
