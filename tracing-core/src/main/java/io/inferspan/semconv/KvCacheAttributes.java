package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;
import static io.inferspan.semconv.Attribute.texts;

import java.util.List;

/** Attributes of the KV-cache index. */
public final class KvCacheAttributes {

  /** The number of pods considered. */
  public static final Attribute<Long> POD_COUNT = count("llm_d.kv_cache.pod_count");

  /** The pods considered; limited in number. */
  public static final Attribute<List<String>> PODS = texts("llm_d.kv_cache.pods");

  /** The number of tokens in the prompt. */
  public static final Attribute<Long> TOKEN_COUNT = count("llm_d.kv_cache.token_count");

  /** The number of complete KV blocks in the prompt. */
  public static final Attribute<Long> BLOCK_KEYS = count("llm_d.kv_cache.block_keys.count");

  /** The number of block entries found, summed over all pods. */
  public static final Attribute<Long> TOTAL_BLOCKS_AVAILABLE =
      count("llm_d.kv_cache.total_blocks_available");

  /** The share of pods considered that have at least one block. */
  public static final Attribute<Double> HIT_RATIO = number("llm_d.kv_cache.hit_ratio");

  /** The number of pods that have at least one block. */
  public static final Attribute<Long> PODS_WITH_HITS_COUNT =
      count("llm_d.kv_cache.pods_with_hits.count");

  /** The pods that have at least one block; limited in number. */
  public static final Attribute<List<String>> PODS_WITH_HITS =
      texts("llm_d.kv_cache.pods_with_hits");

  /** The share of the prompt's blocks that were found. */
  public static final Attribute<Double> BLOCK_HIT_RATIO = number("llm_d.kv_cache.block_hit_ratio");

  /** The number of blocks that at least one pod has. */
  public static final Attribute<Long> BLOCKS_FOUND = count("llm_d.kv_cache.blocks_found");

  /** The scoring algorithm, such as LongestPrefix. */
  public static final Attribute<String> ALGORITHM = text("llm_d.kv_cache.scorer.algorithm");

  /** The number of block keys passed to the scorer. */
  public static final Attribute<Long> SCORER_KEYS = count("llm_d.kv_cache.scorer.key_count");

  /** The highest score of a pod. */
  public static final Attribute<Double> SCORE_MAX = number("llm_d.kv_cache.score.max");

  /** The mean score of the pods. */
  public static final Attribute<Double> SCORE_AVG = number("llm_d.kv_cache.score.avg");

  /** The number of pods with a score. */
  public static final Attribute<Long> PODS_SCORED = count("llm_d.kv_cache.scorer.pods_scored");

  /** The largest number of leading blocks that one pod has. */
  public static final Attribute<Long> LONGEST_CHAIN =
      count("llm_d.kv_cache.prefix_match.longest_chain");

  /** The number of block keys looked up. */
  public static final Attribute<Long> LOOKUP_BLOCKS =
      count("llm_d.kv_cache.index.lookup.block_count");

  /** The number of pods to which the lookup was limited; 0 for no limit. */
  public static final Attribute<Long> LOOKUP_POD_FILTER =
      count("llm_d.kv_cache.lookup.pod_filter_count");

  /** True if at least one block was found. */
  public static final Attribute<Boolean> LOOKUP_HIT = flag("llm_d.kv_cache.lookup.cache_hit");

  /** The number of blocks found. */
  public static final Attribute<Long> LOOKUP_FOUND = count("llm_d.kv_cache.lookup.blocks_found");

  /** The number of engine block hashes added. */
  public static final Attribute<Long> ADD_ENGINE_KEYS =
      count("llm_d.kv_cache.index.add.engine_key_count");

  /** The number of request block keys added. */
  public static final Attribute<Long> ADD_REQUEST_KEYS =
      count("llm_d.kv_cache.index.add.request_key_count");

  /** The number of pod entries added per key. */
  public static final Attribute<Long> ADD_POD_ENTRIES =
      count("llm_d.kv_cache.index.add.pod_entry_count");

  /** The number of device tiers in the added pod entries. */
  public static final Attribute<Long> ADD_DEVICE_TIERS =
      count("llm_d.kv_cache.index.add.device_tier_count");

  /** The type of the evicted keys: {@code engine}, {@code request} or {@code unknown}. */
  public static final Attribute<String> EVICT_KEY_TYPE =
      text("llm_d.kv_cache.index.evict.key_type");

  /** The number of evicted keys. */
  public static final Attribute<Long> EVICT_KEYS = count("llm_d.kv_cache.index.evict.key_count");

  /** The number of pod entries evicted per key. */
  public static final Attribute<Long> EVICT_POD_ENTRIES =
      count("llm_d.kv_cache.index.evict.pod_entry_count");

  /** The number of device tiers in the evicted pod entries. */
  public static final Attribute<Long> EVICT_DEVICE_TIERS =
      count("llm_d.kv_cache.index.evict.device_tier_count");

  /** The topic on which the engine published the batch. */
  public static final Attribute<String> EVENTS_TOPIC = text("llm_d.kv_cache.events.topic");

  /** The engine's sequence number of the batch. */
  public static final Attribute<Long> EVENTS_SEQUENCE = count("llm_d.kv_cache.events.sequence");

  /** The size of the batch in bytes. */
  public static final Attribute<Long> EVENTS_BYTES =
      count("llm_d.kv_cache.events.payload_size_bytes");

  /** The endpoint that the batch was received from. */
  public static final Attribute<String> EVENTS_SOURCE =
      text("llm_d.kv_cache.events.source_endpoint");

  /** The pod that the batch describes. */
  public static final Attribute<String> EVENTS_POD = text("llm_d.kv_cache.events.pod_id");

  /** The number of events in the batch. */
  public static final Attribute<Long> EVENTS_COUNT = count("llm_d.kv_cache.events.event_count");

  private KvCacheAttributes() {}
}
