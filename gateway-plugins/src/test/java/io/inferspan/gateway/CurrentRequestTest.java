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

/** What code finds that looks for the trace on its thread. */
final class CurrentRequestTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Map<String, String> mdc = new HashMap<>();
  private final CurrentRequest bridge = new CurrentRequest(mdc::put, mdc::remove);

  @Test
  void ids_areThoseOfTheInnermostRequestAndThenOfTheOuter() {
    GatewayTracing gateway = GatewayTracing.of(Telemetry.using(tracing.openTelemetry()));
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

  private void assertCurrent(GatewayRequest request) {
    assertThat(Context.current()).isEqualTo(request.context());
    assertThat(mdc)
        .containsEntry("span_id", Span.fromContext(request.context()).getSpanContext().getSpanId())
        .containsEntry(
            "trace_id", Span.fromContext(request.context()).getSpanContext().getTraceId());
  }
}
