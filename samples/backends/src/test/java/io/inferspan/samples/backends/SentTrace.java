package io.inferspan.samples.backends;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import java.util.Map;

/** A trace that was sent with a user's settings: a request with a failed attempt. */
record SentTrace(SpanContext request, SpanContext attempt) {

  static final String MODEL = "tiny";
  static final String SERVICE = "gateway-under-test";

  /** Sends a trace, and waits until it is exported. */
  static SentTrace send(Map<String, String> settings) {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder().serviceName(SERVICE).setting("otel.traces.sampler", "always_on");
    settings.forEach(options::setting);
    try (Telemetry telemetry = Telemetry.initTracing(options.build());
        OperationSpan request =
            telemetry
                .span(GatewaySpans.REQUEST, Context.root())
                .set(GenAiAttributes.REQUEST_MODEL, MODEL)
                .start()) {
      try (OperationSpan attempt = telemetry.span(GatewaySpans.ATTEMPT, request).start()) {
        attempt.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, 503);
        attempt.fail("503", "the call failed");
        return new SentTrace(context(request), context(attempt));
      }
    }
  }

  private static SpanContext context(OperationSpan span) {
    return Span.fromContext(span.context()).getSpanContext();
  }

  String traceId() {
    return request.getTraceId();
  }
}
