package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ResponseTapSpanTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void stream_isDescribed() {
    ResponseTap tap = ResponseTap.forContentType(Bodies.SSE);
    int events = 0;
    for (String event : Bodies.chat().split("(?<=\n\n)", -1)) {
      tap.see(Seen.buffer(event), TimeUnit.MILLISECONDS.toNanos(100 + 10 * events++));
    }

    Map<String, Object> attributes = described(tap).attributes();

    assertThat(attributes)
        .containsEntry("inferspan.response.first_token_ms", 60.0)
        .containsEntry("gen_ai.latency.time_to_first_token", 0.06)
        .containsEntry("inferspan.response.token_gap.max_ms", 20.0)
        .containsKeys("inferspan.response.token_gap.p50_ms", "inferspan.response.token_gap.p99_ms")
        .containsEntry("inferspan.response.tokens", 3L)
        .containsEntry("inferspan.response.complete", true)
        .containsEntry("gen_ai.response.model", "meta-llama/Llama-3.3-70B-Instruct")
        .containsEntry("gen_ai.response.finish_reasons", List.of("stop"))
        .containsEntry("gen_ai.usage.prompt_tokens", 31L)
        .containsEntry("gen_ai.usage.completion_tokens", 3L)
        .containsEntry("gen_ai.usage.cached_tokens", 16L)
        .containsEntry("gen_ai.usage.reasoning_tokens", 2L);
  }

  @Test
  void errorInAStream_failsTheSpan() {
    SpanRecord span = described(Seen.whole(Bodies.SSE, Bodies.Errors.IN_CHAT));

    assertThat(span.attributes()).containsEntry("error.type", "BadRequestError");
    assertThat(span.toString()).doesNotContain("secret");
  }

  @Test
  void document_isDescribedWithoutTokens() {
    assertThat(described(Seen.whole(Bodies.JSON, Bodies.messagesWhole())).attributes())
        .containsOnlyKeys(
            "inferspan.response.complete",
            "gen_ai.response.model",
            "gen_ai.response.finish_reasons",
            "gen_ai.usage.prompt_tokens",
            "gen_ai.usage.completion_tokens");
  }

  @Test
  void bodyThatIsNotObserved_isNotDescribed() {
    assertThat(described(ResponseTap.blind()).attributes()).isEmpty();
  }

  @Test
  void unrecordedSpan_isNotChanged() {
    try (Telemetry off = Telemetry.using(OpenTelemetry.noop());
        OperationSpan span = off.span(GatewaySpans.REQUEST, Context.root()).start()) {
      Seen.whole(Bodies.SSE, Bodies.chat()).describe(span, 0);

      assertThat(span.recording()).isFalse();
    }
  }

  private SpanRecord described(ResponseTap tap) {
    try (Telemetry telemetry = Telemetry.using(tracing.openTelemetry())) {
      try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
        tap.describe(span, TimeUnit.MILLISECONDS.toNanos(50));
      }
    }
    return tracing.spans().get(0);
  }
}
