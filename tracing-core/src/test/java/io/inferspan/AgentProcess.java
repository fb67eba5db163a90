package io.inferspan;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.propagation.HeaderMap;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.HashMap;
import java.util.Map;

/** A gateway in a JVM with an OpenTelemetry agent: the main class of a {@link ChildJvm}. */
public final class AgentProcess {

  private AgentProcess() {}

  /** Traces one request, whose {@code traceparent} is the first argument. */
  public static void main(String[] arguments) {
    try (Telemetry telemetry = Telemetry.initTracing()) {
      Context caller = telemetry.extract(Map.of("traceparent", arguments[0]), HeaderMap.HEADERS);
      OperationSpan request = telemetry.span(GatewaySpans.REQUEST, caller).start();
      OperationSpan scorer = telemetry.span(EppSpans.SCORER_PREFIX_CACHE, request).start();
      try (Scope ignored = scorer.context().makeCurrent()) {
        System.out.println("current=" + Span.current().getSpanContext().getTraceId());
        telemetry.span(KvCacheSpans.GET_SCORES, Context.current()).start().close();
      }
      Map<String, String> headers = new HashMap<>();
      telemetry.inject(scorer, headers, HeaderMap.HEADERS);
      System.out.println("sent=" + headers.get("traceparent"));
      scorer.close();
      request.close();
    }
  }
}
