package io.inferspan.samples.benchmarks;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.context.Context;

/**
 * Records as many spans and attributes as {@link InferspanRequest}, with Micrometer Tracing's
 * OpenTelemetry bridge.
 */
final class MicrometerRequest {

  private final Tracer tracer;

  MicrometerRequest(io.opentelemetry.api.trace.Tracer tracer) {
    this.tracer = new OtelTracer(tracer, new OtelCurrentTraceContext(), event -> {});
  }

  Span run(Context parent, RequestFacts facts) {
    Span request =
        start(
            "gateway.request",
            OtelTraceContext.fromOtel(
                io.opentelemetry.api.trace.Span.fromContext(parent).getSpanContext()),
            facts);
    Span scorer = start("llm_d.epp.scorer.prefix_cache", request.context(), facts);
    Span scores = start("llm_d.kv_cache.get_scores", scorer.context(), facts);
    start("llm_d.kv_cache.storage.lookup", scores.context(), facts).end();
    start("llm_d.kv_cache.scorer.compute", scores.context(), facts).end();
    scores.end();
    scorer.end();
    start("llm_d.epp.profile_handler.pick", request.context(), facts).end();
    start("llm_d.epp.prerequest.pd_disaggregation", request.context(), facts).end();
    start("llm_d.pd_proxy.request", request.context(), facts).end();
    request.end();
    return request;
  }

  private Span start(String name, TraceContext parent, RequestFacts facts) {
    Span span = tracer.spanBuilder().name(name).setParent(parent).kind(Span.Kind.SERVER).start();
    span.tag("gen_ai.request.model", facts.model());
    span.tag("gen_ai.request.id", facts.requestId());
    span.tag("gen_ai.request.stream", true);
    span.tag("llm_d.epp.scorer.candidate_endpoints", facts.pods());
    span.tag("gen_ai.usage.prompt_tokens", facts.promptTokens());
    span.tag("llm_d.epp.scorer.score.max", facts.scoreMax());
    return span;
  }
}
