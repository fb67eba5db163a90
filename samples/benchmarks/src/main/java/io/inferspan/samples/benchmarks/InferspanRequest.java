package io.inferspan.samples.benchmarks;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.inferspan.semconv.PdAttributes;
import io.opentelemetry.context.Context;

/** Records the eight spans of one request with Inferspan, with six attributes each. */
final class InferspanRequest {

  private final Telemetry telemetry;

  InferspanRequest(Telemetry telemetry) {
    this.telemetry = telemetry;
  }

  OperationSpan run(Context parent, RequestFacts facts) {
    OperationSpan request =
        telemetry
            .span(GatewaySpans.REQUEST, parent)
            .set(GenAiAttributes.REQUEST_MODEL, facts.model())
            .set(GenAiAttributes.REQUEST_ID, facts.requestId())
            .set(GenAiAttributes.REQUEST_STREAM, true)
            .set(CommonAttributes.HTTP_ROUTE, facts.route())
            .start();
    scorePrefixCache(request, facts);
    pickProfile(request, facts);
    prepare(request, facts);
    proxy(request, facts);
    request
        .set(GenAiAttributes.USAGE_PROMPT_TOKENS, facts.promptTokens())
        .set(GenAiAttributes.USAGE_COMPLETION_TOKENS, facts.completionTokens())
        .close();
    return request;
  }

  private void scorePrefixCache(OperationSpan request, RequestFacts facts) {
    OperationSpan scorer =
        telemetry
            .span(EppSpans.SCORER_PREFIX_CACHE, request)
            .set(EppAttributes.SCORER_CANDIDATES, facts.pods())
            .set(GenAiAttributes.REQUEST_MODEL, facts.model())
            .set(GenAiAttributes.REQUEST_ID, facts.requestId())
            .start();
    scoreTokens(scorer, facts);
    scorer
        .set(EppAttributes.SCORE_MAX, facts.scoreMax())
        .set(EppAttributes.SCORE_AVG, facts.scoreAvg())
        .set(EppAttributes.SCORER_SCORED, facts.pods())
        .close();
  }

  private void scoreTokens(OperationSpan scorer, RequestFacts facts) {
    OperationSpan scores =
        telemetry
            .span(KvCacheSpans.GET_SCORES, scorer)
            .set(GenAiAttributes.REQUEST_MODEL, facts.model())
            .set(KvCacheAttributes.POD_COUNT, facts.pods())
            .set(KvCacheAttributes.TOKEN_COUNT, facts.promptTokens())
            .set(KvCacheAttributes.BLOCK_KEYS, facts.blocks())
            .start();
    telemetry
        .span(KvCacheSpans.LOOKUP, scores)
        .set(KvCacheAttributes.LOOKUP_BLOCKS, facts.blocks())
        .set(KvCacheAttributes.LOOKUP_POD_FILTER, facts.pods())
        .set(GenAiAttributes.REQUEST_MODEL, facts.model())
        .set(GenAiAttributes.REQUEST_ID, facts.requestId())
        .start()
        .set(KvCacheAttributes.LOOKUP_HIT, true)
        .set(KvCacheAttributes.LOOKUP_FOUND, facts.blocks())
        .close();
    telemetry
        .span(KvCacheSpans.COMPUTE, scores)
        .set(KvCacheAttributes.ALGORITHM, facts.algorithm())
        .set(KvCacheAttributes.SCORER_KEYS, facts.blocks())
        .set(GenAiAttributes.REQUEST_MODEL, facts.model())
        .start()
        .set(KvCacheAttributes.SCORE_MAX, facts.scoreMax())
        .set(KvCacheAttributes.SCORE_AVG, facts.scoreAvg())
        .set(KvCacheAttributes.PODS_SCORED, facts.pods())
        .close();
    scores
        .set(KvCacheAttributes.BLOCK_HIT_RATIO, facts.hitRatio())
        .set(KvCacheAttributes.BLOCKS_FOUND, facts.blocks())
        .close();
  }

  private void pickProfile(OperationSpan request, RequestFacts facts) {
    telemetry
        .span(EppSpans.PROFILE_HANDLER, request)
        .set(GenAiAttributes.REQUEST_MODEL, facts.model())
        .set(EppAttributes.PD_THRESHOLD, facts.threshold())
        .set(EppAttributes.USER_INPUT_BYTES, facts.inputBytes())
        .start()
        .set(EppAttributes.CACHE_HIT_RATIO, facts.hitRatio())
        .set(EppAttributes.DECISION, facts.decision())
        .set(EppAttributes.SELECTED_PROFILE, facts.profile())
        .close();
  }

  private void prepare(OperationSpan request, RequestFacts facts) {
    telemetry
        .span(EppSpans.PREREQUEST, request)
        .set(GenAiAttributes.REQUEST_MODEL, facts.model())
        .set(GenAiAttributes.REQUEST_ID, facts.requestId())
        .set(EppAttributes.PD_USED, true)
        .set(EppAttributes.PREFILL_POD_ADDRESS, facts.podAddress())
        .set(EppAttributes.PREFILL_POD_PORT, facts.podPort())
        .set(EppAttributes.ENCODE_USED, false)
        .start()
        .close();
  }

  private void proxy(OperationSpan request, RequestFacts facts) {
    telemetry
        .span(PdSpans.REQUEST, request)
        .set(PdAttributes.CONNECTOR, facts.connector())
        .set(PdAttributes.REQUEST_PATH, facts.route())
        .set(PdAttributes.DISAGGREGATION_USED, true)
        .set(PdAttributes.PREFILL_TARGET, facts.podAddress())
        .start()
        .set(PdAttributes.TOTAL_DURATION_MS, facts.totalMillis())
        .set(PdAttributes.TRUE_TTFT_MS, facts.ttftMillis())
        .close();
  }
}
