package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.otlp.Received;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.util.List;
import java.util.Objects;

/** Traces as the stack writes them, with times that are easy to add up. */
final class Traces {

  static final long TRACE = 1;

  private Traces() {}

  /** Returns a request of 250 ms with prefill on another pod and its first token after 70 ms. */
  static List<TestSpan> disaggregated(SpanNaming naming) {
    return List.of(
        gateway(naming),
        TestSpan.of(EppSpans.SCORER_PREFIX_CACHE, naming, "llm-gateway").id(TRACE, 2, 1).at(1, 3),
        TestSpan.of(KvCacheSpans.GET_SCORES, naming, "llm-gateway")
            .id(TRACE, 3, 2)
            .at(1, 2)
            .with(KvCacheAttributes.BLOCK_HIT_RATIO, 0.25),
        decision(naming),
        TestSpan.of(PdSpans.REQUEST, naming, "llm-d-pd-proxy")
            .id(TRACE, 5, 1)
            .at(6, 249)
            .with(PdAttributes.DISAGGREGATION_USED, true)
            .with(PdAttributes.PREFILL_TARGET, "10.0.0.1:8000")
            .with(PdAttributes.COORDINATOR_OVERHEAD_MS, 1.0),
        TestSpan.of(PdSpans.PREFILL, naming, "llm-d-pd-proxy").id(TRACE, 6, 5).at(7, 50),
        engine("vllm-prefill-pod", 7, 6, 10, 30).at(9, 49),
        TestSpan.of(PdSpans.DECODE, naming, "llm-d-pd-proxy")
            .id(TRACE, 8, 5)
            .at(51, 248)
            .with(PdAttributes.DECODE_TARGET, "10.0.0.2:8000"),
        engine("vllm-decode-pod", 9, 8, 8, 7).at(53, 247));
  }

  private static TestSpan gateway(SpanNaming naming) {
    return TestSpan.of(GatewaySpans.REQUEST, naming, "llm-gateway")
        .id(TRACE, 1, 0)
        .at(0, 250)
        .with(GenAiAttributes.REQUEST_MODEL, "tiny")
        .with(GenAiAttributes.REQUEST_ID, "req-1")
        .with(ResponseAttributes.FIRST_TOKEN_MS, 70.0)
        .with(GatewayAttributes.QUEUE_MS, 0.0)
        .with(GatewayAttributes.SCHEDULE_MS, 4.0)
        .with(GatewayAttributes.UPSTREAM_CONNECT_MS, 2.0)
        .with(GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, 64.0)
        .with("http.response.status_code", 200L);
  }

  private static TestSpan decision(SpanNaming naming) {
    return TestSpan.of(EppSpans.PROFILE_HANDLER, naming, "llm-gateway")
        .id(TRACE, 4, 1)
        .at(3, 3.5)
        .with(EppAttributes.DECISION, "prefill_decode")
        .with(EppAttributes.DECISION_REASON, "non_cached_bytes_reach_threshold")
        .with(EppAttributes.PD_THRESHOLD, 1024L)
        .with(EppAttributes.NON_CACHED_BYTES, 1539L);
  }

  /** Returns an engine span with vLLM's attributes for the queue and the first token. */
  static TestSpan engine(String service, long id, long parent, double queueMs, double firstMs) {
    return TestSpan.of(EngineSpans.LLM_REQUEST, "", service)
        .id(TRACE, id, parent)
        .with(GenAiAttributes.LATENCY_TIME_IN_QUEUE, queueMs / 1e3)
        .with(GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL, firstMs / 1e3)
        .with(GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, (queueMs + firstMs) / 1e3)
        .with(GenAiAttributes.USAGE_COMPLETION_TOKENS, 24L);
  }

  static TraceSpans spans(List<TestSpan> spans, boolean quiet) {
    List<Received> received = TestSpan.received(spans.toArray(TestSpan[]::new));
    return new TraceSpans(
        new TraceId(TRACE, TRACE), received.stream().map(Received::span).toList(), 0, quiet);
  }

  static Summary summary(List<TestSpan> spans, boolean quiet) {
    return Objects.requireNonNull(new SummaryReader().summarise(spans(spans, quiet)));
  }

  static TraceView view(List<TestSpan> spans) {
    return TraceView.read(
        spans(spans, true), new TraceView.Others(List.of(), id -> null, wanted -> List.of(), 7));
  }
}
