package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.numbers;
import static io.inferspan.semconv.Attribute.text;
import static io.inferspan.semconv.Attribute.texts;

import java.util.List;

/** Attributes of the gateway and of the endpoint picker (EPP). */
public final class EppAttributes {

  /** The model that the request was routed to. */
  public static final Attribute<String> TARGET_MODEL = text("target_model");

  /** The priority of the request, from its inference objective. */
  public static final Attribute<Long> REQUEST_PRIORITY = count("request_prio");

  /** The fairness id of the request, which identifies its tenant. */
  public static final Attribute<String> FAIRNESS_ID = text("llm_d.epp.fairness.id");

  /** The source of the fairness id, such as {@code header}. */
  public static final Attribute<String> FAIRNESS_SOURCE = text("llm_d.epp.fairness.source");

  /** The component that is started. */
  public static final Attribute<String> STARTUP_COMPONENT = text("component");

  /** The startup operation, such as {@code build}. */
  public static final Attribute<String> STARTUP_OPERATION = text("operation");

  /** The scheduler profile that ran. */
  public static final Attribute<String> PROFILE_NAME = text("llm_d.epp.scheduling.profile.name");

  /** The number of endpoints before filtering. */
  public static final Attribute<Long> FILTER_CANDIDATES =
      count("llm_d.epp.filter.candidate_endpoints");

  /** The number of endpoints that passed the filters. */
  public static final Attribute<Long> FILTER_KEPT = count("llm_d.epp.filter.filtered_endpoints");

  /** The affinity above which an endpoint is sticky; only llm-d writes it. */
  public static final Attribute<Double> FILTER_AFFINITY_THRESHOLD =
      number("llm_d.epp.filter.affinity_threshold");

  /** The decision of the filter; only llm-d writes it. */
  public static final Attribute<String> FILTER_DECISION = text("llm_d.epp.filter.decision");

  /** The number of endpoints above the affinity threshold; only llm-d writes it. */
  public static final Attribute<Long> FILTER_STICKY = count("llm_d.epp.filter.sticky_endpoints");

  /** Milliseconds of time to first token that stickiness may cost; only llm-d writes it. */
  public static final Attribute<Double> FILTER_TTFT_PENALTY_MS =
      number("llm_d.epp.filter.ttft_penalty_ms");

  /** The number of scorers. */
  public static final Attribute<Long> SCORER_COUNT = count("llm_d.epp.scorer.count");

  /** The number of endpoints to score. */
  public static final Attribute<Long> SCORING_CANDIDATES =
      count("llm_d.epp.scoring.candidate_endpoints");

  /** The plugin type of the scorer. */
  public static final Attribute<String> SCORER_TYPE = text("llm_d.epp.scorer.type");

  /** The configured name of the scorer. */
  public static final Attribute<String> SCORER_NAME = text("llm_d.epp.scorer.name");

  /** The weight of the scorer in the weighted sum. */
  public static final Attribute<Double> SCORER_WEIGHT = number("llm_d.epp.scorer.weight");

  /** The number of endpoints passed to the scorer. */
  public static final Attribute<Long> SCORER_CANDIDATES =
      count("llm_d.epp.scorer.candidate_endpoints");

  /** The highest score. */
  public static final Attribute<Double> SCORE_MAX = number("llm_d.epp.scorer.score.max");

  /** The mean score. */
  public static final Attribute<Double> SCORE_AVG = number("llm_d.epp.scorer.score.avg");

  /**
   * The highest value from which a score was computed, such as cached blocks or running requests.
   */
  public static final Attribute<Double> RAW_SCORE_MAX =
      number("inferspan.epp.scorer.raw_score.max");

  /** The mean of the values from which the scores were computed. */
  public static final Attribute<Double> RAW_SCORE_AVG =
      number("inferspan.epp.scorer.raw_score.avg");

  /** The number of endpoints with a score. */
  public static final Attribute<Long> SCORER_SCORED = count("llm_d.epp.scorer.endpoints_scored");

  /** The number of endpoints passed to the picker. */
  public static final Attribute<Long> PICKER_CANDIDATES =
      count("llm_d.epp.picker.candidate_endpoints");

  /** The best endpoints, at most five, best first. */
  public static final Attribute<List<String>> PICKER_TOP_ENDPOINTS =
      texts("llm_d.epp.picker.top_endpoints");

  /** The scores of the best endpoints, in the same order. */
  public static final Attribute<List<Double>> PICKER_TOP_SCORES =
      numbers("llm_d.epp.picker.top_scores");

  /** The number of endpoints looked up in the KV-cache index. */
  public static final Attribute<Long> PRODUCER_CANDIDATES =
      count("llm_d.epp.producer.candidate_endpoints");

  /** The reason why there is no result. */
  public static final Attribute<String> PRODUCER_RESULT = text("llm_d.epp.producer.result");

  /** The number of KV blocks in the prompt. */
  public static final Attribute<Long> PRODUCER_TOTAL_BLOCKS =
      count("llm_d.epp.producer.total_blocks");

  /** The largest number of matching KV blocks on one endpoint. */
  public static final Attribute<Long> PRODUCER_MAX_MATCH_BLOCKS =
      count("llm_d.epp.producer.max_match_blocks");

  /** The number of configured profiles. */
  public static final Attribute<Long> PROFILES_TOTAL =
      count("llm_d.epp.profile_handler.total_profiles");

  /** The number of profiles that have already run. */
  public static final Attribute<Long> PROFILES_EXECUTED =
      count("llm_d.epp.profile_handler.executed_profiles");

  /** The decision, such as {@code prefill_decode}, {@code decode_only} or {@code run_encode}. */
  public static final Attribute<String> DECISION = text("llm_d.epp.profile_handler.decision");

  /** The profile selected to run next. */
  public static final Attribute<String> SELECTED_PROFILE =
      text("llm_d.epp.profile_handler.selected_profile");

  /** The number of non-cached bytes from which on prefill runs on another pod. */
  public static final Attribute<Long> PD_THRESHOLD =
      count("llm_d.epp.profile_handler.pd_threshold");

  /** The size of the user's input in bytes. */
  public static final Attribute<Long> USER_INPUT_BYTES =
      count("llm_d.epp.profile_handler.user_input_bytes");

  /** The share of the input that is in the decode pod's cache. */
  public static final Attribute<Double> CACHE_HIT_RATIO =
      number("llm_d.epp.profile_handler.cache_hit_ratio");

  /** The number of KV blocks of the input that are in the decode pod's cache. */
  public static final Attribute<Long> CACHE_HITS = count("llm_d.epp.profile_handler.cache_hits");

  /** The number of bytes of the input that are not in the decode pod's cache. */
  public static final Attribute<Long> NON_CACHED_BYTES =
      count("llm_d.epp.profile_handler.non_cached_bytes");

  /** The reason for the decision. */
  public static final Attribute<String> DECISION_REASON = text("llm_d.epp.profile_handler.reason");

  /** True if the decode profile failed. */
  public static final Attribute<Boolean> DECODE_FAILED =
      flag("llm_d.epp.profile_handler.decode_failed");

  /** True if the prefill profile failed. */
  public static final Attribute<Boolean> PREFILL_FAILED =
      flag("llm_d.epp.profile_handler.prefill_failed");

  /** True if prefill runs on another pod. */
  public static final Attribute<Boolean> PD_USED = flag("llm_d.epp.pd.disaggregation_used");

  /** Why prefill does not run on another pod. */
  public static final Attribute<String> PD_REASON = text("llm_d.epp.pd.reason");

  /** The address of the prefill pod. */
  public static final Attribute<String> PREFILL_POD_ADDRESS =
      text("llm_d.epp.pd.prefill_pod_address");

  /** The port of the prefill pod, as text. */
  public static final Attribute<String> PREFILL_POD_PORT = text("llm_d.epp.pd.prefill_pod_port");

  /** True if encoding runs on other pods. */
  public static final Attribute<Boolean> ENCODE_USED = flag("llm_d.epp.encode.disaggregation_used");

  /** Why encoding does not run on other pods. */
  public static final Attribute<String> ENCODE_REASON = text("llm_d.epp.encode.reason");

  /** The encode endpoints, separated by commas. */
  public static final Attribute<String> ENCODE_ENDPOINTS = text("llm_d.epp.encode.endpoints");

  /** Why no headers were set: scheduling had no result. */
  public static final Attribute<String> DISAGG_REASON = text("llm_d.epp.disagg.reason");

  /** The kinds of media in the request, or {@code none}. */
  public static final Attribute<String> MM_MODALITY = text("mm.modality");

  /** The number of media items that are part of block hashes. */
  public static final Attribute<Long> MM_HASH_COUNT = count("mm.hash_count");

  /** True if a media item was found in a cache; only llm-d writes it. */
  public static final Attribute<Boolean> MM_HIT = flag("mm.hit");

  /** The backend that tokenised the prompt. */
  public static final Attribute<String> TOKEN_PRODUCER_BACKEND =
      text("llm_d.epp.token_producer.backend");

  /** The result of tokenising: {@code ok} or {@code error}. */
  public static final Attribute<String> TOKEN_PRODUCER_RESULT =
      text("llm_d.epp.token_producer.result");

  /** The number of tokens in the prompt. */
  public static final Attribute<Long> TOKEN_PRODUCER_COUNT =
      count("llm_d.epp.token_producer.token_count");

  private EppAttributes() {}
}
