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

  /** The priority that the objective gives the request. */
  public static final Attribute<Long> REQUEST_PRIORITY = count("request_prio");

  /** The tenant that the request counts for. */
  public static final Attribute<String> FAIRNESS_ID = text("llm_d.epp.fairness.id");

  /** The source of the tenant. */
  public static final Attribute<String> FAIRNESS_SOURCE = text("llm_d.epp.fairness.source");

  /** The component that starts. */
  public static final Attribute<String> STARTUP_COMPONENT = text("component");

  /** The operation of the component at startup. */
  public static final Attribute<String> STARTUP_OPERATION = text("operation");

  /** The scheduler profile that ran. */
  public static final Attribute<String> PROFILE_NAME = text("llm_d.epp.scheduling.profile.name");

  /** Endpoints before filtering. */
  public static final Attribute<Long> FILTER_CANDIDATES =
      count("llm_d.epp.filter.candidate_endpoints");

  /** Endpoints that passed the filters. */
  public static final Attribute<Long> FILTER_KEPT = count("llm_d.epp.filter.filtered_endpoints");

  /** Affinity from which an endpoint is sticky; only llm-d writes it. */
  public static final Attribute<Double> FILTER_AFFINITY_THRESHOLD =
      number("llm_d.epp.filter.affinity_threshold");

  /** The decision of the filter; only llm-d writes it. */
  public static final Attribute<String> FILTER_DECISION = text("llm_d.epp.filter.decision");

  /** Endpoints above the affinity threshold; only llm-d writes it. */
  public static final Attribute<Long> FILTER_STICKY = count("llm_d.epp.filter.sticky_endpoints");

  /** Milliseconds that stickiness may cost; only llm-d writes it. */
  public static final Attribute<Double> FILTER_TTFT_PENALTY_MS =
      number("llm_d.epp.filter.ttft_penalty_ms");

  /** Scorers that ran. */
  public static final Attribute<Long> SCORER_COUNT = count("llm_d.epp.scorer.count");

  /** Endpoints to be scored. */
  public static final Attribute<Long> SCORING_CANDIDATES =
      count("llm_d.epp.scoring.candidate_endpoints");

  /** The plugin type of the scorer. */
  public static final Attribute<String> SCORER_TYPE = text("llm_d.epp.scorer.type");

  /** The configured name of the scorer. */
  public static final Attribute<String> SCORER_NAME = text("llm_d.epp.scorer.name");

  /** The weight of the scorer in the sum. */
  public static final Attribute<Double> SCORER_WEIGHT = number("llm_d.epp.scorer.weight");

  /** Endpoints given to the scorer. */
  public static final Attribute<Long> SCORER_CANDIDATES =
      count("llm_d.epp.scorer.candidate_endpoints");

  /** The best score given. */
  public static final Attribute<Double> SCORE_MAX = number("llm_d.epp.scorer.score.max");

  /** The mean of the scores given. */
  public static final Attribute<Double> SCORE_AVG = number("llm_d.epp.scorer.score.avg");

  /** The highest of the values that the scores were computed from: blocks, requests, a share. */
  public static final Attribute<Double> RAW_SCORE_MAX =
      number("inferspan.epp.scorer.raw_score.max");

  /** The mean of the values that the scores were computed from. */
  public static final Attribute<Double> RAW_SCORE_AVG =
      number("inferspan.epp.scorer.raw_score.avg");

  /** Endpoints that got a score. */
  public static final Attribute<Long> SCORER_SCORED = count("llm_d.epp.scorer.endpoints_scored");

  /** Endpoints given to the picker. */
  public static final Attribute<Long> PICKER_CANDIDATES =
      count("llm_d.epp.picker.candidate_endpoints");

  /** The best endpoints, five at most, best first. */
  public static final Attribute<List<String>> PICKER_TOP_ENDPOINTS =
      texts("llm_d.epp.picker.top_endpoints");

  /** The scores of the best endpoints. */
  public static final Attribute<List<Double>> PICKER_TOP_SCORES =
      numbers("llm_d.epp.picker.top_scores");

  /** Endpoints looked up in the KV index. */
  public static final Attribute<Long> PRODUCER_CANDIDATES =
      count("llm_d.epp.producer.candidate_endpoints");

  /** The reason why nothing was produced. */
  public static final Attribute<String> PRODUCER_RESULT = text("llm_d.epp.producer.result");

  /** KV blocks in the prompt. */
  public static final Attribute<Long> PRODUCER_TOTAL_BLOCKS =
      count("llm_d.epp.producer.total_blocks");

  /** KV blocks the best endpoint already has. */
  public static final Attribute<Long> PRODUCER_MAX_MATCH_BLOCKS =
      count("llm_d.epp.producer.max_match_blocks");

  /** Profiles configured. */
  public static final Attribute<Long> PROFILES_TOTAL =
      count("llm_d.epp.profile_handler.total_profiles");

  /** Profiles that have run so far. */
  public static final Attribute<Long> PROFILES_EXECUTED =
      count("llm_d.epp.profile_handler.executed_profiles");

  /** Disaggregate, decode only, or run a stage next. */
  public static final Attribute<String> DECISION = text("llm_d.epp.profile_handler.decision");

  /** The profile chosen to run. */
  public static final Attribute<String> SELECTED_PROFILE =
      text("llm_d.epp.profile_handler.selected_profile");

  /** Bytes from which a prefill pays off. */
  public static final Attribute<Long> PD_THRESHOLD =
      count("llm_d.epp.profile_handler.pd_threshold");

  /** Size of the user's input. */
  public static final Attribute<Long> USER_INPUT_BYTES =
      count("llm_d.epp.profile_handler.user_input_bytes");

  /** Share of the input found in a cache. */
  public static final Attribute<Double> CACHE_HIT_RATIO =
      number("llm_d.epp.profile_handler.cache_hit_ratio");

  /** Blocks of the input found in a cache. */
  public static final Attribute<Long> CACHE_HITS = count("llm_d.epp.profile_handler.cache_hits");

  /** Bytes of input found in no cache. */
  public static final Attribute<Long> NON_CACHED_BYTES =
      count("llm_d.epp.profile_handler.non_cached_bytes");

  /** The reason for the handler's decision. */
  public static final Attribute<String> DECISION_REASON = text("llm_d.epp.profile_handler.reason");

  /** True if the decode profile failed. */
  public static final Attribute<Boolean> DECODE_FAILED =
      flag("llm_d.epp.profile_handler.decode_failed");

  /** True if the prefill profile failed. */
  public static final Attribute<Boolean> PREFILL_FAILED =
      flag("llm_d.epp.profile_handler.prefill_failed");

  /** True if prefill runs on another pod. */
  public static final Attribute<Boolean> PD_USED = flag("llm_d.epp.pd.disaggregation_used");

  /** The reason why prefill does not run on another pod. */
  public static final Attribute<String> PD_REASON = text("llm_d.epp.pd.reason");

  /** Address of the prefill pod. */
  public static final Attribute<String> PREFILL_POD_ADDRESS =
      text("llm_d.epp.pd.prefill_pod_address");

  /** Port of the prefill pod, as text. */
  public static final Attribute<String> PREFILL_POD_PORT = text("llm_d.epp.pd.prefill_pod_port");

  /** True if encoding runs on other pods. */
  public static final Attribute<Boolean> ENCODE_USED = flag("llm_d.epp.encode.disaggregation_used");

  /** The reason why encoding does not run on other pods. */
  public static final Attribute<String> ENCODE_REASON = text("llm_d.epp.encode.reason");

  /** Encoder endpoints, separated by commas. */
  public static final Attribute<String> ENCODE_ENDPOINTS = text("llm_d.epp.encode.endpoints");

  /** The reason why nothing was prepared. */
  public static final Attribute<String> DISAGG_REASON = text("llm_d.epp.disagg.reason");

  /** Kinds of media in the request, or none. */
  public static final Attribute<String> MM_MODALITY = text("mm.modality");

  /** Media items that take part in block hashes. */
  public static final Attribute<Long> MM_HASH_COUNT = count("mm.hash_count");

  /** True if a media item was found in a cache; only llm-d writes it. */
  public static final Attribute<Boolean> MM_HIT = flag("mm.hit");

  /** The backend that tokenised the prompt. */
  public static final Attribute<String> TOKEN_PRODUCER_BACKEND =
      text("llm_d.epp.token_producer.backend");

  /** The result of tokenising. */
  public static final Attribute<String> TOKEN_PRODUCER_RESULT =
      text("llm_d.epp.token_producer.result");

  /** Tokens in the prompt. */
  public static final Attribute<Long> TOKEN_PRODUCER_COUNT =
      count("llm_d.epp.token_producer.token_count");

  private EppAttributes() {}
}
