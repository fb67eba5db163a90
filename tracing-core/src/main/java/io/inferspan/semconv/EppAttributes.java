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

  public static final Attribute<String> TARGET_MODEL =
      text("target_model", "The model that the request was routed to.");
  public static final Attribute<Long> REQUEST_PRIORITY =
      count("request_prio", "The priority that the objective gives the request.");
  public static final Attribute<String> FAIRNESS_ID =
      text("llm_d.epp.fairness.id", "The tenant that the request counts for.");
  public static final Attribute<String> FAIRNESS_SOURCE =
      text("llm_d.epp.fairness.source", "Where the tenant came from.");

  public static final Attribute<String> STARTUP_COMPONENT =
      text("component", "The component that starts.");
  public static final Attribute<String> STARTUP_OPERATION =
      text("operation", "What the component does at start.");

  public static final Attribute<String> PROFILE_NAME =
      text("llm_d.epp.scheduling.profile.name", "The scheduler profile that ran.");

  public static final Attribute<Long> FILTER_CANDIDATES =
      count("llm_d.epp.filter.candidate_endpoints", "Endpoints before filtering.");
  public static final Attribute<Long> FILTER_KEPT =
      count("llm_d.epp.filter.filtered_endpoints", "Endpoints that passed the filters.");
  public static final Attribute<Double> FILTER_AFFINITY_THRESHOLD =
      number(
          "llm_d.epp.filter.affinity_threshold",
          "Affinity from which an endpoint is sticky; only llm-d writes it.");
  public static final Attribute<String> FILTER_DECISION =
      text("llm_d.epp.filter.decision", "What the filter decided; only llm-d writes it.");
  public static final Attribute<Long> FILTER_STICKY =
      count(
          "llm_d.epp.filter.sticky_endpoints",
          "Endpoints above the affinity threshold; only llm-d writes it.");
  public static final Attribute<Double> FILTER_TTFT_PENALTY_MS =
      number(
          "llm_d.epp.filter.ttft_penalty_ms",
          "Milliseconds that stickiness may cost; only llm-d writes it.");

  public static final Attribute<Long> SCORER_COUNT =
      count("llm_d.epp.scorer.count", "Scorers that ran.");
  public static final Attribute<Long> SCORING_CANDIDATES =
      count("llm_d.epp.scoring.candidate_endpoints", "Endpoints to be scored.");
  public static final Attribute<String> SCORER_TYPE =
      text("llm_d.epp.scorer.type", "The plugin type of the scorer.");
  public static final Attribute<String> SCORER_NAME =
      text("llm_d.epp.scorer.name", "The configured name of the scorer.");
  public static final Attribute<Double> SCORER_WEIGHT =
      number("llm_d.epp.scorer.weight", "What the scorer counts in the sum.");
  public static final Attribute<Long> SCORER_CANDIDATES =
      count("llm_d.epp.scorer.candidate_endpoints", "Endpoints given to the scorer.");
  public static final Attribute<Double> SCORE_MAX =
      number("llm_d.epp.scorer.score.max", "The best score given.");
  public static final Attribute<Double> SCORE_AVG =
      number("llm_d.epp.scorer.score.avg", "The mean of the scores given.");
  public static final Attribute<Long> SCORER_SCORED =
      count("llm_d.epp.scorer.endpoints_scored", "Endpoints that got a score.");

  public static final Attribute<Long> PICKER_CANDIDATES =
      count("llm_d.epp.picker.candidate_endpoints", "Endpoints given to the picker.");
  public static final Attribute<List<String>> PICKER_TOP_ENDPOINTS =
      texts("llm_d.epp.picker.top_endpoints", "The best endpoints, five at most, best first.");
  public static final Attribute<List<Double>> PICKER_TOP_SCORES =
      numbers("llm_d.epp.picker.top_scores", "The scores of the best endpoints.");

  public static final Attribute<Long> PRODUCER_CANDIDATES =
      count("llm_d.epp.producer.candidate_endpoints", "Endpoints looked up in the KV index.");
  public static final Attribute<String> PRODUCER_RESULT =
      text("llm_d.epp.producer.result", "Why nothing was produced.");
  public static final Attribute<Long> PRODUCER_TOTAL_BLOCKS =
      count("llm_d.epp.producer.total_blocks", "KV blocks in the prompt.");
  public static final Attribute<Long> PRODUCER_MAX_MATCH_BLOCKS =
      count("llm_d.epp.producer.max_match_blocks", "KV blocks the best endpoint already has.");

  public static final Attribute<Long> PROFILES_TOTAL =
      count("llm_d.epp.profile_handler.total_profiles", "Profiles configured.");
  public static final Attribute<Long> PROFILES_EXECUTED =
      count("llm_d.epp.profile_handler.executed_profiles", "Profiles that have run so far.");
  public static final Attribute<String> DECISION =
      text("llm_d.epp.profile_handler.decision", "Disaggregate, decode only, or run a stage next.");
  public static final Attribute<String> SELECTED_PROFILE =
      text("llm_d.epp.profile_handler.selected_profile", "The profile chosen to run.");
  public static final Attribute<Long> PD_THRESHOLD =
      count("llm_d.epp.profile_handler.pd_threshold", "Bytes from which a prefill pays off.");
  public static final Attribute<Long> USER_INPUT_BYTES =
      count("llm_d.epp.profile_handler.user_input_bytes", "Size of the user's input.");
  public static final Attribute<Double> CACHE_HIT_RATIO =
      number("llm_d.epp.profile_handler.cache_hit_ratio", "Share of the input found in a cache.");
  public static final Attribute<Long> CACHE_HITS =
      count("llm_d.epp.profile_handler.cache_hits", "Blocks of the input found in a cache.");
  public static final Attribute<Long> NON_CACHED_BYTES =
      count("llm_d.epp.profile_handler.non_cached_bytes", "Bytes of input found in no cache.");
  public static final Attribute<String> DECISION_REASON =
      text("llm_d.epp.profile_handler.reason", "Why the handler decided so.");
  public static final Attribute<Boolean> DECODE_FAILED =
      flag("llm_d.epp.profile_handler.decode_failed", "Whether the decode profile failed.");
  public static final Attribute<Boolean> PREFILL_FAILED =
      flag("llm_d.epp.profile_handler.prefill_failed", "Whether the prefill profile failed.");

  public static final Attribute<Boolean> PD_USED =
      flag("llm_d.epp.pd.disaggregation_used", "Whether prefill runs on another pod.");
  public static final Attribute<String> PD_REASON =
      text("llm_d.epp.pd.reason", "Why prefill does not run on another pod.");
  public static final Attribute<String> PREFILL_POD_ADDRESS =
      text("llm_d.epp.pd.prefill_pod_address", "Address of the prefill pod.");
  public static final Attribute<String> PREFILL_POD_PORT =
      text("llm_d.epp.pd.prefill_pod_port", "Port of the prefill pod, as text.");
  public static final Attribute<Boolean> ENCODE_USED =
      flag("llm_d.epp.encode.disaggregation_used", "Whether encoding runs on other pods.");
  public static final Attribute<String> ENCODE_REASON =
      text("llm_d.epp.encode.reason", "Why encoding does not run on other pods.");
  public static final Attribute<String> ENCODE_ENDPOINTS =
      text("llm_d.epp.encode.endpoints", "Encoder endpoints, separated by commas.");
  public static final Attribute<String> DISAGG_REASON =
      text("llm_d.epp.disagg.reason", "Why nothing was prepared.");

  public static final Attribute<String> MM_MODALITY =
      text("mm.modality", "Kinds of media in the request, or none.");
  public static final Attribute<Long> MM_HASH_COUNT =
      count("mm.hash_count", "Media items that take part in block hashes.");
  public static final Attribute<Boolean> MM_HIT =
      flag("mm.hit", "Whether a media item was found in a cache; only llm-d writes it.");

  public static final Attribute<String> TOKEN_PRODUCER_BACKEND =
      text("llm_d.epp.token_producer.backend", "What tokenised the prompt.");
  public static final Attribute<String> TOKEN_PRODUCER_RESULT =
      text("llm_d.epp.token_producer.result", "How tokenising ended.");
  public static final Attribute<Long> TOKEN_PRODUCER_COUNT =
      count("llm_d.epp.token_producer.token_count", "Tokens in the prompt.");

  private EppAttributes() {}
}
