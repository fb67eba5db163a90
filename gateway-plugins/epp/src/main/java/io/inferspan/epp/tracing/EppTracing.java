package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Plugin;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.values.ShortValues;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records the spans of endpoint picking.
 *
 * <p>{@code traced(…)} wraps a plugin in a decorator that records its span and handles its
 * failures. An endpoint picker without these plugin interfaces starts each span with its method,
 * records the result, and closes it. No method throws, and none allocates if the trace is not
 * sampled.
 */
public final class EppTracing {

  private static final String NO_TOKENS = "skipped_no_tokens";
  private static final int FIRST_ERROR_STATUS = 400;

  /** Records nothing, for spans that the selected naming scheme does not define. */
  private static final Telemetry DISABLED = Telemetry.using(OpenTelemetry.noop());

  private final Telemetry telemetry;
  private final boolean proposalShape;

  /** Creates an instance that records with {@code telemetry}. */
  public static EppTracing create(Telemetry telemetry) {
    return new EppTracing(telemetry);
  }

  private EppTracing(Telemetry telemetry) {
    this.telemetry = telemetry;
    this.proposalShape = telemetry.spanNaming() == SpanNaming.PROPOSAL;
  }

  /** Returns an instance that records nothing. */
  public static EppTracing none() {
    return EppTracing.create(DISABLED);
  }

  /** Wraps a chain of filters in one span. A filter that throws is skipped. */
  public Filter traced(List<? extends Filter> chain) {
    return new TracedFilters(this, List.copyOf(chain));
  }

  /**
   * Wraps a scorer with its span. If it throws, fails or misses the deadline of the cycle, no
   * endpoint gets a score.
   */
  public Scorer traced(Scorer scorer, double weight) {
    return new TracedScorer(this, scorer, weight);
  }

  /** Wraps a picker with its span. If it throws, the endpoint with the best score is picked. */
  public Picker traced(Picker picker) {
    return new TracedPicker(this, picker);
  }

  /** Wraps a profile handler with its spans. If it throws, no more profiles run. */
  public ProfileHandler traced(ProfileHandler handler) {
    return new TracedProfileHandler(this, handler);
  }

  /**
   * Wraps a pre-request plugin, which has a span only if it prepares disaggregation. An exception
   * has no effect on the request.
   */
  public PreRequest traced(PreRequest preRequest) {
    return new TracedPreRequest(this, preRequest);
  }

  /**
   * Starts the root span of the startup of the endpoint picker or of one component. Only the
   * tracing proposal has this span; with the names of later releases, nothing is recorded.
   */
  public OperationSpan startup(String component, String operation) {
    return (proposalShape ? telemetry : DISABLED)
        .span(EppSpans.STARTUP, Context.root())
        .set(EppAttributes.STARTUP_COMPONENT, component)
        .set(EppAttributes.STARTUP_OPERATION, operation)
        .start();
  }

  /** Starts the span of one run of a profile. */
  public OperationSpan profileRun(String profile, Context parent) {
    return telemetry
        .span(EppSpans.PROFILE_RUN, parent)
        .set(EppAttributes.PROFILE_NAME, profile)
        .start();
  }

  /**
   * Starts the span of a chain of filters; set {@link EppAttributes#FILTER_KEPT} when it is known.
   */
  public OperationSpan filters(InferenceRequest request, int candidates, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.FILTER, parent);
    span.set(EppAttributes.FILTER_CANDIDATES, candidates);
    return identify(span, request).start();
  }

  /** Starts the span of all scorers of a profile. */
  public OperationSpan scoring(
      InferenceRequest request, int scorers, int candidates, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.SCORING, parent);
    span.set(EppAttributes.SCORER_COUNT, scorers).set(EppAttributes.SCORING_CANDIDATES, candidates);
    return identify(span, request).start();
  }

  /** Starts the span of one scorer; {@link #scored} records its result. */
  public OperationSpan scorer(
      Plugin scorer, double weight, InferenceRequest request, int candidates, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.SCORER, scorer.type(), parent);
    span.set(EppAttributes.SCORER_TYPE, scorer.type())
        .set(EppAttributes.SCORER_NAME, scorer.name())
        .set(EppAttributes.SCORER_WEIGHT, weight)
        .set(EppAttributes.SCORER_CANDIDATES, candidates);
    return identify(span, request).start();
  }

  /** Starts the span of a query to a KV-cache index; {@link #scored} records its result. */
  public OperationSpan prefixScorer(InferenceRequest request, int candidates, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.SCORER_PREFIX_CACHE, parent);
    span.set(EppAttributes.SCORER_CANDIDATES, candidates);
    return describe(span, request).start();
  }

  /** Records a scorer's result. */
  public static void scored(OperationSpan span, Scores scores) {
    if (!span.recording()) {
      return;
    }
    int scored = scores.scored();
    if (scored > 0) {
      span.set(EppAttributes.SCORE_MAX, scores.max())
          .set(EppAttributes.SCORE_AVG, scores.average());
    }
    if (scores.hasRaw()) {
      span.set(EppAttributes.RAW_SCORE_MAX, scores.rawMax())
          .set(EppAttributes.RAW_SCORE_AVG, scores.rawAverage());
    }
    span.set(EppAttributes.SCORER_SCORED, scored);
  }

  /**
   * Starts the span of a producer of prefix data, which queries a KV-cache index before scheduling;
   * {@link #matched} or {@link #notTokenized} records its result.
   */
  public OperationSpan prefixProducer(InferenceRequest request, int candidates, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.PREFIX_PRODUCER, parent);
    span.set(EppAttributes.PRODUCER_CANDIDATES, candidates);
    return describe(span, request).start();
  }

  /**
   * Records the hits of a prompt in an index.
   *
   * @param totalBlocks the number of blocks in the prompt
   * @param mostMatched the largest number of matching blocks on one endpoint
   */
  public static void matched(OperationSpan producer, int totalBlocks, int mostMatched) {
    producer
        .set(EppAttributes.PRODUCER_TOTAL_BLOCKS, totalBlocks)
        .set(EppAttributes.PRODUCER_MAX_MATCH_BLOCKS, mostMatched);
  }

  /** Records that no index was queried, because the prompt has no tokens. */
  public static void notTokenized(OperationSpan producer) {
    producer.set(EppAttributes.PRODUCER_RESULT, NO_TOKENS);
  }

  /**
   * Starts the span of a tokenize request to an engine; {@link #tokenized} records its result.
   *
   * @param path the path of the request, without parts that vary between requests
   * @param backend the kind of engine, such as {@code vllm}
   */
  public OperationSpan tokenizer(String path, String backend, Endpoint engine, Context parent) {
    return telemetry
        .span(EppSpans.TOKENIZE, path, parent)
        .set(EppAttributes.TOKEN_PRODUCER_BACKEND, backend)
        .set(CommonAttributes.HTTP_REQUEST_METHOD, "POST")
        .set(CommonAttributes.SERVER_ADDRESS, engine.address())
        .set(CommonAttributes.SERVER_PORT, engine.port())
        .start();
  }

  /**
   * Records an engine's response to a tokenize request.
   *
   * @param tokens the number of tokens in the prompt; ignored if the status is an error
   */
  public static void tokenized(OperationSpan tokenizer, int status, int tokens) {
    tokenizer.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
    if (status >= FIRST_ERROR_STATUS) {
      tokenizer
          .set(EppAttributes.TOKEN_PRODUCER_RESULT, "error")
          .fail(
              Integer.toString(status),
              "the engine did not tokenise the prompt; it responded with status " + status);
    } else {
      tokenizer
          .set(EppAttributes.TOKEN_PRODUCER_RESULT, "ok")
          .set(EppAttributes.TOKEN_PRODUCER_COUNT, tokens);
    }
  }

  /** Starts the span of the choice among scored endpoints. */
  public OperationSpan picker(List<Endpoint> endpoints, Scores scores, Context parent) {
    OperationSpan span =
        telemetry
            .span(EppSpans.PICKER, parent)
            .set(EppAttributes.PICKER_CANDIDATES, endpoints.size())
            .start();
    if (span.recording()) {
      TopEndpoints.of(endpoints, scores).describe(span);
    }
    return span;
  }

  /**
   * Starts the span of a decision between decode only and prefill plus decode; {@link #decided}
   * records the decision.
   */
  public OperationSpan profileHandler(
      InferenceRequest request, int totalProfiles, int executedProfiles, Context parent) {
    PendingSpan span = telemetry.span(EppSpans.PROFILE_HANDLER, parent);
    span.set(EppAttributes.PROFILES_TOTAL, totalProfiles)
        .set(EppAttributes.PROFILES_EXECUTED, executedProfiles);
    return describe(span, request).start();
  }

  /**
   * Starts the span of one step of the decision about encode, prefill and decode; {@link #decided}
   * records the decision.
   */
  public OperationSpan disaggProfileHandler(InferenceRequest request, Context parent) {
    return describe(telemetry.span(EppSpans.DISAGG_PROFILE_HANDLER, parent), request).start();
  }

  /** Records a profile handler's decision, with the attributes of its {@code shape}. */
  public static void decided(
      OperationSpan span, ProfileHandler.Shape shape, ProfileHandler.Pick pick) {
    if (!span.recording()) {
      return;
    }
    span.set(EppAttributes.DECISION, pick.decision());
    if (pick.decodeFailed()) {
      span.set(EppAttributes.DECODE_FAILED, true);
    }
    if (shape == ProfileHandler.Shape.STAGED) {
      if (pick.prefillFailed()) {
        span.set(EppAttributes.PREFILL_FAILED, true);
      }
      return;
    }
    if (!pick.profiles().isEmpty()) {
      span.set(EppAttributes.SELECTED_PROFILE, pick.profiles().get(0));
    }
    PdReasoning reasoning = pick.reasoning();
    if (reasoning != null) {
      reasoned(span, reasoning);
    }
  }

  private static void reasoned(OperationSpan span, PdReasoning reasoning) {
    if (reasoning.reason().equals(PdReasoning.INPUT_UNKNOWN)) {
      span.fail(PdReasoning.INPUT_UNKNOWN, "the size of the user's input is not known");
    }
    span.set(EppAttributes.DECISION_REASON, reasoning.reason())
        .set(EppAttributes.PD_THRESHOLD, known(reasoning.thresholdBytes()))
        .set(EppAttributes.USER_INPUT_BYTES, known(reasoning.inputBytes()))
        .set(EppAttributes.CACHE_HITS, known(reasoning.cachedBlocks()))
        .set(EppAttributes.NON_CACHED_BYTES, known(reasoning.nonCachedBytes()));
    if (reasoning.cacheHitRatio() >= 0) {
      span.set(EppAttributes.CACHE_HIT_RATIO, reasoning.cacheHitRatio());
    }
  }

  private static @Nullable Long known(long count) {
    return count < 0 ? null : Long.valueOf(count);
  }

  /** Starts the span of setting the headers that name the prefill and encode pods. */
  public OperationSpan preRequest(SchedulingResult result, Context parent) {
    OperationSpan span =
        describe(telemetry.span(EppSpans.PREREQUEST, parent), result.cycle().request()).start();
    if (span.recording()) {
      Disaggregation.describe(span, result);
    }
    return span;
  }

  /**
   * Returns the parent of an index lookup's span: in the proposal the request's span, else the
   * scorer's.
   */
  Context parentOfLookup(Cycle cycle, OperationSpan scorer) {
    return proposalShape ? cycle.context() : scorer.context();
  }

  private static PendingSpan identify(PendingSpan span, InferenceRequest request) {
    return span.mayRecord()
        ? span.set(GenAiAttributes.REQUEST_MODEL, ShortValues.of(request.model()))
            .set(GenAiAttributes.REQUEST_ID, ShortValues.of(request.id()))
        : span;
  }

  private static PendingSpan describe(PendingSpan span, InferenceRequest request) {
    identify(span, request);
    if (span.mayRecord()) {
      span.set(EppAttributes.MM_MODALITY, request.modality())
          .set(EppAttributes.MM_HASH_COUNT, known(request.mediaItems()));
    }
    return span;
  }
}
