package io.inferspan.samples.benchmarks;

import static io.opentelemetry.api.common.AttributeKey.booleanKey;
import static io.opentelemetry.api.common.AttributeKey.doubleKey;
import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;

/**
 * Records the spans of {@link InferspanRequest} with the OpenTelemetry API, as its documentation
 * shows: keys in constants, attributes set on the span, a context for every span.
 */
final class RawRequest {

  private static final AttributeKey<String> MODEL = stringKey("gen_ai.request.model");
  private static final AttributeKey<String> REQUEST_ID = stringKey("gen_ai.request.id");
  private static final AttributeKey<Boolean> STREAM = booleanKey("gen_ai.request.stream");
  private static final AttributeKey<String> ROUTE = stringKey("http.route");
  private static final AttributeKey<Long> PROMPT = longKey("gen_ai.usage.prompt_tokens");
  private static final AttributeKey<Long> COMPLETION = longKey("gen_ai.usage.completion_tokens");
  private static final AttributeKey<Long> CANDIDATES =
      longKey("llm_d.epp.scorer.candidate_endpoints");
  private static final AttributeKey<Double> SCORE_MAX = doubleKey("llm_d.epp.scorer.score.max");
  private static final AttributeKey<Double> SCORE_AVG = doubleKey("llm_d.epp.scorer.score.avg");
  private static final AttributeKey<Long> SCORED = longKey("llm_d.epp.scorer.endpoints_scored");
  private static final AttributeKey<Long> PODS = longKey("llm_d.kv_cache.pod_count");
  private static final AttributeKey<Long> TOKENS = longKey("llm_d.kv_cache.token_count");
  private static final AttributeKey<Long> BLOCKS = longKey("llm_d.kv_cache.block_keys.count");
  private static final AttributeKey<Double> RATIO = doubleKey("llm_d.kv_cache.block_hit_ratio");
  private static final AttributeKey<Long> FOUND = longKey("llm_d.kv_cache.blocks_found");
  private static final AttributeKey<Long> LOOKUP_BLOCKS =
      longKey("llm_d.kv_cache.index.lookup.block_count");
  private static final AttributeKey<Long> LOOKUP_FILTER =
      longKey("llm_d.kv_cache.lookup.pod_filter_count");
  private static final AttributeKey<Boolean> LOOKUP_HIT =
      booleanKey("llm_d.kv_cache.lookup.cache_hit");
  private static final AttributeKey<Long> LOOKUP_FOUND =
      longKey("llm_d.kv_cache.lookup.blocks_found");
  private static final AttributeKey<String> ALGORITHM =
      stringKey("llm_d.kv_cache.scorer.algorithm");
  private static final AttributeKey<Long> KEYS = longKey("llm_d.kv_cache.scorer.key_count");
  private static final AttributeKey<Double> KV_MAX = doubleKey("llm_d.kv_cache.score.max");
  private static final AttributeKey<Double> KV_AVG = doubleKey("llm_d.kv_cache.score.avg");
  private static final AttributeKey<Long> KV_SCORED = longKey("llm_d.kv_cache.scorer.pods_scored");
  private static final AttributeKey<Long> THRESHOLD =
      longKey("llm_d.epp.profile_handler.pd_threshold");
  private static final AttributeKey<Long> INPUT_BYTES =
      longKey("llm_d.epp.profile_handler.user_input_bytes");
  private static final AttributeKey<Double> HIT_RATIO =
      doubleKey("llm_d.epp.profile_handler.cache_hit_ratio");
  private static final AttributeKey<String> DECISION =
      stringKey("llm_d.epp.profile_handler.decision");
  private static final AttributeKey<String> PROFILE =
      stringKey("llm_d.epp.profile_handler.selected_profile");
  private static final AttributeKey<Boolean> PD_USED =
      booleanKey("llm_d.epp.pd.disaggregation_used");
  private static final AttributeKey<String> POD_ADDRESS =
      stringKey("llm_d.epp.pd.prefill_pod_address");
  private static final AttributeKey<String> POD_PORT = stringKey("llm_d.epp.pd.prefill_pod_port");
  private static final AttributeKey<Boolean> ENCODE_USED =
      booleanKey("llm_d.epp.encode.disaggregation_used");
  private static final AttributeKey<String> CONNECTOR = stringKey("llm_d.pd_proxy.connector");
  private static final AttributeKey<String> PATH = stringKey("llm_d.pd_proxy.request_path");
  private static final AttributeKey<Boolean> USED =
      booleanKey("llm_d.pd_proxy.disaggregation_used");
  private static final AttributeKey<String> TARGET = stringKey("llm_d.pd_proxy.prefill_target");
  private static final AttributeKey<Double> TOTAL = doubleKey("llm_d.pd_proxy.total_duration_ms");
  private static final AttributeKey<Double> TTFT = doubleKey("llm_d.pd_proxy.true_ttft_ms");

  private final Tracer tracer;

  RawRequest(Tracer tracer) {
    this.tracer = tracer;
  }

  Context run(Context parent, RequestFacts facts) {
    Span span = start("gateway.request", SpanKind.SERVER, parent);
    Context context = parent.with(span);
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(REQUEST_ID, facts.requestId());
    span.setAttribute(STREAM, true);
    span.setAttribute(ROUTE, facts.route());
    scorePrefixCache(context, facts);
    pickProfile(context, facts);
    prepare(context, facts);
    proxy(context, facts);
    span.setAttribute(PROMPT, facts.promptTokens());
    span.setAttribute(COMPLETION, facts.completionTokens());
    span.end();
    return context;
  }

  private Span start(String name, SpanKind kind, Context parent) {
    return tracer.spanBuilder(name).setParent(parent).setSpanKind(kind).startSpan();
  }

  private void scorePrefixCache(Context parent, RequestFacts facts) {
    Span span = start("llm_d.epp.scorer.prefix_cache", SpanKind.INTERNAL, parent);
    Context context = parent.with(span);
    span.setAttribute(CANDIDATES, facts.pods());
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(REQUEST_ID, facts.requestId());
    scoreTokens(context, facts);
    span.setAttribute(SCORE_MAX, facts.scoreMax());
    span.setAttribute(SCORE_AVG, facts.scoreAvg());
    span.setAttribute(SCORED, facts.pods());
    span.end();
  }

  private void scoreTokens(Context parent, RequestFacts facts) {
    Span span = start("llm_d.kv_cache.get_scores", SpanKind.SERVER, parent);
    Context context = parent.with(span);
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(PODS, facts.pods());
    span.setAttribute(TOKENS, facts.promptTokens());
    span.setAttribute(BLOCKS, facts.blocks());
    lookup(context, facts);
    compute(context, facts);
    span.setAttribute(RATIO, facts.hitRatio());
    span.setAttribute(FOUND, facts.blocks());
    span.end();
  }

  private Context lookup(Context parent, RequestFacts facts) {
    Span span = start("llm_d.kv_cache.storage.lookup", SpanKind.INTERNAL, parent);
    Context context = parent.with(span);
    span.setAttribute(LOOKUP_BLOCKS, facts.blocks());
    span.setAttribute(LOOKUP_FILTER, facts.pods());
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(REQUEST_ID, facts.requestId());
    span.setAttribute(LOOKUP_HIT, true);
    span.setAttribute(LOOKUP_FOUND, facts.blocks());
    span.end();
    return context;
  }

  private Context compute(Context parent, RequestFacts facts) {
    Span span = start("llm_d.kv_cache.scorer.compute", SpanKind.INTERNAL, parent);
    Context context = parent.with(span);
    span.setAttribute(ALGORITHM, facts.algorithm());
    span.setAttribute(KEYS, facts.blocks());
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(KV_MAX, facts.scoreMax());
    span.setAttribute(KV_AVG, facts.scoreAvg());
    span.setAttribute(KV_SCORED, facts.pods());
    span.end();
    return context;
  }

  private Context pickProfile(Context parent, RequestFacts facts) {
    Span span = start("llm_d.epp.profile_handler.pick", SpanKind.INTERNAL, parent);
    Context context = parent.with(span);
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(THRESHOLD, facts.threshold());
    span.setAttribute(INPUT_BYTES, facts.inputBytes());
    span.setAttribute(HIT_RATIO, facts.hitRatio());
    span.setAttribute(DECISION, facts.decision());
    span.setAttribute(PROFILE, facts.profile());
    span.end();
    return context;
  }

  private Context prepare(Context parent, RequestFacts facts) {
    Span span = start("llm_d.epp.prerequest.pd_disaggregation", SpanKind.INTERNAL, parent);
    Context context = parent.with(span);
    span.setAttribute(MODEL, facts.model());
    span.setAttribute(REQUEST_ID, facts.requestId());
    span.setAttribute(PD_USED, true);
    span.setAttribute(POD_ADDRESS, facts.podAddress());
    span.setAttribute(POD_PORT, facts.podPort());
    span.setAttribute(ENCODE_USED, false);
    span.end();
    return context;
  }

  private Context proxy(Context parent, RequestFacts facts) {
    Span span = start("llm_d.pd_proxy.request", SpanKind.SERVER, parent);
    Context context = parent.with(span);
    span.setAttribute(CONNECTOR, facts.connector());
    span.setAttribute(PATH, facts.route());
    span.setAttribute(USED, true);
    span.setAttribute(TARGET, facts.podAddress());
    span.setAttribute(TOTAL, facts.totalMillis());
    span.setAttribute(TTFT, facts.ttftMillis());
    span.end();
    return context;
  }
}
