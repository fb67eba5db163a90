package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The trace that code finds on its thread. */
final class CurrentRequestTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Map<String, String> mdc = new HashMap<>();
  private final CurrentRequest bridge = new CurrentRequest(mdc::put, mdc::remove);

  @Test
  void ids_areThoseOfTheInnermostRequestAndThenOfTheOuter() {
    GatewayTracing gateway = GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
    GatewayRequest outer = gateway.begin(TestExchange.chat());
    GatewayRequest inner = gateway.begin(TestExchange.chat());
    try (Scope ignored = bridge.enter(outer.context())) {
      bridge.run(inner.context(), () -> assertCurrent(inner));
      assertCurrent(outer);
    }
    assertThat(mdc).isEmpty();
    assertThat(Span.current().getSpanContext().isValid()).isFalse();
    outer.end();
    inner.end();
  }

  @Test
  void mapThatThrows_costsIdsInLogsAndNothingElse() {
    GatewayTracing gateway = GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
    GatewayRequest request = gateway.begin(TestExchange.chat());
    CurrentRequest broken =
        new CurrentRequest(
            (key, value) -> {
              throw new IllegalStateException("secret");
            },
            key -> {
              mdc.put("asked to remove", key);
              throw new IllegalStateException("secret");
            });
    try (CapturedLog log = new CapturedLog()) {
      broken.run(
          request.context(), () -> assertThat(Context.current()).isEqualTo(request.context()));
      assertThat(log.text()).contains("IllegalStateException").doesNotContain("secret");
    }
    assertThat(Span.current().getSpanContext().isValid()).isFalse();
    // The second key is tried although the first one failed.
    assertThat(mdc).containsEntry("asked to remove", CurrentRequest.SPAN_ID);
    request.end();
  }

  private void assertCurrent(GatewayRequest request) {
    assertThat(Context.current()).isEqualTo(request.context());
    assertThat(mdc)
        .containsEntry("span_id", Span.fromContext(request.context()).getSpanContext().getSpanId())
        .containsEntry(
            "trace_id", Span.fromContext(request.context()).getSpanContext().getTraceId());
  }
}
