package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * An index that records the span of a lookup with the OpenTelemetry API, to compare its cost with
 * Inferspan's.
 */
final class HandTracedIndex implements BlockIndex {

  private static final AttributeKey<Long> BLOCKS =
      AttributeKey.longKey("llm_d.kv_cache.index.lookup.block_count");
  private static final AttributeKey<Long> PODS =
      AttributeKey.longKey("llm_d.kv_cache.lookup.pod_filter_count");
  private static final AttributeKey<Boolean> HIT =
      AttributeKey.booleanKey("llm_d.kv_cache.lookup.cache_hit");
  private static final AttributeKey<Long> FOUND =
      AttributeKey.longKey("llm_d.kv_cache.lookup.blocks_found");

  private final BlockIndex index;
  private final Tracer tracer;

  HandTracedIndex(BlockIndex index, Tracer tracer) {
    this.index = index;
    this.tracer = tracer;
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    Span span =
        tracer
            .spanBuilder("llm_d.kv_cache.storage.lookup")
            .setParent(context)
            .setAttribute(BLOCKS, (long) keys.length)
            .setAttribute(PODS, (long) pods.size())
            .startSpan();
    try {
      CompletionStage<BlockHits> found = index.lookup(keys, pods, into, context.with(span));
      int blocks = into.found();
      span.setAttribute(HIT, blocks > 0).setAttribute(FOUND, (long) blocks);
      return found;
    } finally {
      span.end();
    }
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    return index.add(engineKeys, requestKeys, holders, context);
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return index.evict(key, type, holders, context);
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return index.requestKey(engineKey);
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return index.clear(pod);
  }

  @Override
  public void close() {
    index.close();
  }
}
