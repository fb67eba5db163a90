package io.inferspan.testing.engine;

import io.inferspan.testing.engine.RequestReader.Call;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.concurrent.TimeUnit;

/**
 * The single span that vLLM records for a completed request: {@code llm_request}, with the
 * request's times and without its text. Only {@code traceparent} and {@code tracestate} are read,
 * regardless of the propagators of the OpenTelemetry instance.
 */
final class EngineSpan {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final TextMapGetter<EngineRequest> HEADERS =
      (request, name) -> request == null ? null : request.header(name);

  /** The times of a request, on the scale of {@link System#nanoTime()}. */
  record Moments(long queued, long scheduled, long firstToken, long lastToken, long end) {}

  private final Tracer tracer;

  EngineSpan(OpenTelemetry openTelemetry) {
    tracer = openTelemetry.getTracer("vllm.llm_engine");
  }

  void emit(EngineRequest request, Reply reply, Moments at) {
    long arrival = request.arrivalNanos();
    long startEpochNanos = request.arrivalEpochNanos();
    SpanBuilder span =
        tracer
            .spanBuilder("llm_request")
            .setSpanKind(SpanKind.SERVER)
            .setParent(
                W3CTraceContextPropagator.getInstance().extract(Context.root(), request, HEADERS))
            .setStartTimestamp(startEpochNanos, TimeUnit.NANOSECONDS);
    setLatencies(span, at, arrival);
    span.setAttribute("gen_ai.usage.prompt_tokens", reply.promptTokens());
    span.setAttribute("gen_ai.usage.completion_tokens", reply.tokens());
    span.setAttribute("gen_ai.request.id", reply.id());
    setRequestParameters(span, reply.call());
    span.startSpan().end(startEpochNanos + at.end() - arrival, TimeUnit.NANOSECONDS);
  }

  private static void setLatencies(SpanBuilder span, Moments at, long arrival) {
    setSeconds(span, "gen_ai.latency.time_to_first_token", at.firstToken() - arrival);
    setSeconds(span, "gen_ai.latency.e2e", at.end() - arrival);
    setSeconds(span, "gen_ai.latency.time_in_queue", at.scheduled() - at.queued());
    setSeconds(span, "gen_ai.latency.time_in_model_prefill", at.firstToken() - at.scheduled());
    setSeconds(span, "gen_ai.latency.time_in_model_decode", at.lastToken() - at.firstToken());
    setSeconds(span, "gen_ai.latency.time_in_model_inference", at.lastToken() - at.scheduled());
  }

  private static void setSeconds(SpanBuilder span, String key, long nanos) {
    span.setAttribute(key, nanos / NANOS_PER_SECOND);
  }

  /** Like vLLM, omits parameters that are false in Python's sense, such as zeros. */
  private static void setRequestParameters(SpanBuilder span, Call call) {
    if (call.sampling().topP() != 0) {
      span.setAttribute("gen_ai.request.top_p", call.sampling().topP());
    }
    Integer maxTokens = call.limits().maxTokens();
    if (maxTokens != null) {
      span.setAttribute("gen_ai.request.max_tokens", maxTokens);
    }
    if (call.sampling().temperature() != 0) {
      span.setAttribute("gen_ai.request.temperature", call.sampling().temperature());
    }
    if (call.sampling().n() != 0) {
      span.setAttribute("gen_ai.request.n", call.sampling().n());
    }
  }
}
