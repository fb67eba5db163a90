package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.opentelemetry.api.trace.SpanKind;

/** Spans of the KV-cache index. */
public final class KvCacheSpans {

  /** Scores every pod by how much of the prompt its KV cache holds. */
  public static final SpanType GET_SCORES =
      span(Component.KV_CACHE, "llm_d.kv_cache.get_scores")
          .since09("llm_d.kv_cache.score_tokens")
          .after010("score_tokens")
          .kindInProposal(SpanKind.SERVER)
          .under(EppSpans.SCORER_PREFIX_CACHE)
          .carries(
              GenAiAttributes.REQUEST_MODEL,
              KvCacheAttributes.POD_COUNT,
              KvCacheAttributes.PODS,
              KvCacheAttributes.TOKEN_COUNT,
              KvCacheAttributes.BLOCK_KEYS,
              KvCacheAttributes.TOTAL_BLOCKS_AVAILABLE,
              KvCacheAttributes.HIT_RATIO,
              KvCacheAttributes.PODS_WITH_HITS_COUNT,
              KvCacheAttributes.PODS_WITH_HITS,
              KvCacheAttributes.BLOCK_HIT_RATIO,
              KvCacheAttributes.BLOCKS_FOUND)
          .build();

  /** Looks up the prompt's block keys in the index. */
  public static final SpanType LOOKUP =
      span(Component.KV_INDEX, "llm_d.kv_cache.storage.lookup")
          .since09("llm_d.kv_cache.index")
          .after010("index_lookup")
          .under(GET_SCORES)
          .carries(
              KvCacheAttributes.LOOKUP_BLOCKS,
              KvCacheAttributes.LOOKUP_POD_FILTER,
              KvCacheAttributes.LOOKUP_HIT,
              KvCacheAttributes.LOOKUP_FOUND)
          .build();

  /** Computes a score per pod from the lookup result. */
  public static final SpanType COMPUTE =
      span(Component.KV_CACHE, "llm_d.kv_cache.scorer.compute")
          .after010("compute_scores")
          .under(GET_SCORES)
          .carries(
              KvCacheAttributes.ALGORITHM,
              KvCacheAttributes.SCORER_KEYS,
              KvCacheAttributes.SCORE_MAX,
              KvCacheAttributes.SCORE_AVG,
              KvCacheAttributes.PODS_SCORED,
              KvCacheAttributes.LONGEST_CHAIN)
          .build();

  /** Adds to the index the blocks that an engine has stored. */
  public static final SpanType ADD =
      span(Component.KV_INDEX, "llm_d.kv_cache.index.add")
          .after010("index_add")
          .carries(
              KvCacheAttributes.ADD_ENGINE_KEYS,
              KvCacheAttributes.ADD_REQUEST_KEYS,
              KvCacheAttributes.ADD_POD_ENTRIES,
              KvCacheAttributes.ADD_DEVICE_TIERS)
          .build();

  /** Removes from the index the blocks that an engine has evicted. */
  public static final SpanType EVICT =
      span(Component.KV_INDEX, "llm_d.kv_cache.index.evict")
          .after010("index_evict")
          .carries(
              KvCacheAttributes.EVICT_KEY_TYPE,
              KvCacheAttributes.EVICT_KEYS,
              KvCacheAttributes.EVICT_POD_ENTRIES,
              KvCacheAttributes.EVICT_DEVICE_TIERS)
          .build();

  /**
   * Applies a batch of an engine's KV-cache events to the index; older llm-d releases have no such
   * span.
   */
  public static final SpanType EVENTS =
      span(Component.KV_EVENTS, "llm_d.kv_cache.events.process")
          .after010("events_process")
          .kind(SpanKind.CONSUMER)
          .carries(
              KvCacheAttributes.EVENTS_TOPIC,
              KvCacheAttributes.EVENTS_SEQUENCE,
              KvCacheAttributes.EVENTS_BYTES,
              KvCacheAttributes.EVENTS_SOURCE,
              KvCacheAttributes.EVENTS_POD,
              KvCacheAttributes.EVENTS_COUNT)
          .build();

  private KvCacheSpans() {}
}
