package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;
import static io.inferspan.semconv.GenAiAttributes.REQUEST_ID;
import static io.inferspan.semconv.GenAiAttributes.REQUEST_MODEL;

import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.opentelemetry.api.trace.SpanKind;

/** Spans of the endpoint picker (EPP). */
public final class EppSpans {

  /** Startup of the endpoint picker or of one of its components; only with the proposal's names. */
  public static final SpanType STARTUP =
      span(Component.SCHEDULING, "llm_d.epp.startup")
          .carries(EppAttributes.STARTUP_COMPONENT, EppAttributes.STARTUP_OPERATION)
          .build();

  /** One run of a scheduler profile: its filters, scorers and picker. */
  public static final SpanType PROFILE_RUN =
      span(Component.SCHEDULING, "run_scheduler_profile")
          .under(GatewaySpans.REQUEST)
          .carries(EppAttributes.PROFILE_NAME)
          .build();

  /** All filters of a profile. */
  public static final SpanType FILTER =
      span(Component.SCHEDULING, "filter_endpoints")
          .under(PROFILE_RUN)
          .carries(
              EppAttributes.FILTER_CANDIDATES,
              EppAttributes.FILTER_KEPT,
              EppAttributes.FILTER_AFFINITY_THRESHOLD,
              EppAttributes.FILTER_DECISION,
              EppAttributes.FILTER_STICKY,
              EppAttributes.FILTER_TTFT_PENALTY_MS,
              REQUEST_MODEL,
              REQUEST_ID)
          .build();

  /** All scorers of a profile. */
  public static final SpanType SCORING =
      span(Component.SCHEDULING, "llm_d.epp.scoring")
          .after010("scoring")
          .under(PROFILE_RUN)
          .carries(
              EppAttributes.SCORER_COUNT,
              EppAttributes.SCORING_CANDIDATES,
              REQUEST_MODEL,
              REQUEST_ID)
          .build();

  /** One scorer. */
  public static final SpanType SCORER =
      span(Component.SCHEDULING, "llm_d.epp.scorer.")
          .parameter("<type>")
          .under(SCORING)
          .carries(
              EppAttributes.SCORER_TYPE,
              EppAttributes.SCORER_NAME,
              EppAttributes.SCORER_WEIGHT,
              EppAttributes.SCORER_CANDIDATES,
              EppAttributes.SCORE_MAX,
              EppAttributes.SCORE_AVG,
              EppAttributes.RAW_SCORE_MAX,
              EppAttributes.RAW_SCORE_AVG,
              EppAttributes.SCORER_SCORED,
              REQUEST_MODEL,
              REQUEST_ID)
          .build();

  /**
   * The precise prefix-cache scorer, which queries the KV-cache index for pods that hold the
   * prompt's prefix.
   */
  public static final SpanType SCORER_PREFIX_CACHE =
      span(Component.SCHEDULING_PLUGINS, "llm_d.epp.scorer.prefix_cache")
          .since09("score_prefix_cache")
          .under(GatewaySpans.REQUEST)
          .carries(
              EppAttributes.SCORER_CANDIDATES,
              EppAttributes.SCORE_MAX,
              EppAttributes.SCORE_AVG,
              EppAttributes.RAW_SCORE_MAX,
              EppAttributes.RAW_SCORE_AVG,
              EppAttributes.SCORER_SCORED,
              REQUEST_MODEL,
              REQUEST_ID,
              EppAttributes.MM_MODALITY,
              EppAttributes.MM_HASH_COUNT,
              EppAttributes.MM_HIT)
          .build();

  /** The choice of endpoints by their scores. */
  public static final SpanType PICKER =
      span(Component.SCHEDULING, "pick_endpoints")
          .under(PROFILE_RUN)
          .carries(
              EppAttributes.PICKER_CANDIDATES,
              EppAttributes.PICKER_TOP_ENDPOINTS,
              EppAttributes.PICKER_TOP_SCORES)
          .build();

  /** A lookup of the prompt's prefix in the KV-cache index before scheduling. */
  public static final SpanType PREFIX_PRODUCER =
      span(Component.REQUEST_CONTROL_PLUGINS, "produce_precise_prefix_cache")
          .under(GatewaySpans.ORCHESTRATION)
          .carries(
              EppAttributes.PRODUCER_CANDIDATES,
              EppAttributes.PRODUCER_RESULT,
              EppAttributes.PRODUCER_TOTAL_BLOCKS,
              EppAttributes.PRODUCER_MAX_MATCH_BLOCKS,
              REQUEST_MODEL,
              REQUEST_ID,
              EppAttributes.MM_MODALITY,
              EppAttributes.MM_HASH_COUNT,
              EppAttributes.MM_HIT)
          .build();

  /** The decision between decode only and disaggregated prefill and decode. */
  public static final SpanType PROFILE_HANDLER =
      span(Component.SCHEDULING_PLUGINS, "llm_d.epp.profile_handler.pick")
          .since09("pick_pd_profile")
          .under(GatewaySpans.REQUEST)
          .carries(
              EppAttributes.PROFILES_TOTAL,
              EppAttributes.PROFILES_EXECUTED,
              EppAttributes.DECISION,
              EppAttributes.SELECTED_PROFILE,
              EppAttributes.PD_THRESHOLD,
              EppAttributes.USER_INPUT_BYTES,
              EppAttributes.CACHE_HIT_RATIO,
              EppAttributes.CACHE_HITS,
              EppAttributes.NON_CACHED_BYTES,
              EppAttributes.DECISION_REASON,
              EppAttributes.DECODE_FAILED,
              REQUEST_MODEL,
              REQUEST_ID,
              EppAttributes.MM_MODALITY,
              EppAttributes.MM_HASH_COUNT)
          .build();

  /** One step of the decision which of the stages encode, prefill and decode to run. */
  public static final SpanType DISAGG_PROFILE_HANDLER =
      span(Component.SCHEDULING_PLUGINS, "llm_d.epp.disagg.profile_handler.pick")
          .since09("pick_disagg_profile")
          .under(GatewaySpans.REQUEST)
          .carries(
              EppAttributes.DECISION,
              EppAttributes.DECODE_FAILED,
              EppAttributes.PREFILL_FAILED,
              REQUEST_MODEL,
              REQUEST_ID,
              EppAttributes.MM_MODALITY,
              EppAttributes.MM_HASH_COUNT)
          .build();

  /** Sets the request headers that name the prefill and encode pods. */
  public static final SpanType PREREQUEST =
      span(Component.SCHEDULING_PLUGINS, "llm_d.epp.prerequest.pd_disaggregation")
          .since09("prepare_disaggregation")
          .under(GatewaySpans.REQUEST)
          .carries(
              EppAttributes.PD_USED,
              EppAttributes.PD_REASON,
              EppAttributes.PREFILL_POD_ADDRESS,
              EppAttributes.PREFILL_POD_PORT,
              EppAttributes.ENCODE_USED,
              EppAttributes.ENCODE_REASON,
              EppAttributes.ENCODE_ENDPOINTS,
              EppAttributes.DISAGG_REASON,
              REQUEST_MODEL,
              REQUEST_ID,
              EppAttributes.MM_MODALITY,
              EppAttributes.MM_HASH_COUNT)
          .build();

  /** A call to an engine that tokenises the prompt. */
  public static final SpanType TOKENIZE =
      span(Component.REQUEST_CONTROL_PLUGINS, "tokenize_render ")
          .parameter("<path>")
          .kind(SpanKind.CLIENT)
          .under(GatewaySpans.ORCHESTRATION)
          .carries(
              EppAttributes.TOKEN_PRODUCER_BACKEND,
              EppAttributes.TOKEN_PRODUCER_RESULT,
              EppAttributes.TOKEN_PRODUCER_COUNT,
              CommonAttributes.HTTP_REQUEST_METHOD,
              CommonAttributes.HTTP_RESPONSE_STATUS_CODE,
              CommonAttributes.SERVER_ADDRESS,
              CommonAttributes.SERVER_PORT)
          .build();

  private EppSpans() {}
}
