package io.inferspan.privacy;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.TestOptions;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Spans of other instrumentation that are crafted to attack the privacy guard. */
class HostileSpansTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final AttributeKey<String> STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private OtlpReceiver receiver;
  private Telemetry telemetry;

  @BeforeEach
  void start() {
    receiver = OtlpReceiver.start();
    telemetry =
        Telemetry.initTracing(
            TestOptions.exportingTo(receiver)
                .setting("inferspan.attributes.allow", "app.")
                .setting("otel.attribute.value.length.limit", "1000000")
                .build());
  }

  @AfterEach
  void close() {
    telemetry.close();
    receiver.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a.", "A", "\tat a.b", "Caused by: a.", "\tat a(b"})
  void printedStackTraceWithAnEndlessLine_isDropped(String repeated) {
    assertThat(StackTraceText.isFreeOfMessages(repeated.repeat(4_000) + " ")).isFalse();
    assertThat(StackTraceText.isFreeOfMessages(repeated.repeat(100_000) + " ")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {30_000, 50_000})
  void printedStackTraceWithAnEndlessLine_doesNotStopTheExport(int packages) {
    Span hostile = foreign().spanBuilder("hostile").startSpan();
    hostile.addEvent("exception", Attributes.of(STACK_TRACE, "a.".repeat(packages) + " "));
    hostile.end();
    assertThat(telemetry.flush(SOON)).isTrue();
    foreign().spanBuilder("after").startSpan().end();

    List<SpanRecord> spans = receiver.awaitSpans(2, SOON);
    assertThat(spans).extracting(SpanRecord::name).containsExactly("hostile", "after");
    assertThat(spans.get(0).events().get(0).attributes()).isEmpty();
  }

  @Test
  void nestedValueOfAnAllowedKey_isDropped() {
    Value<?> nested = Value.of(KeyValue.of("prompt", Value.of("secret")));
    for (Tracer tracer : List.of(foreign(), telemetry.tracer("own"))) {
      Span span = tracer.spanBuilder("s").startSpan();
      span.setAttribute(AttributeKey.valueKey("app.nested"), nested);
      span.setAttribute("app.plain", "x");
      span.end();
    }
    assertThat(telemetry.flush(SOON)).isTrue();

    assertThat(receiver.spans())
        .hasSize(2)
        .allSatisfy(span -> assertThat(span.attributes()).isEqualTo(Map.of("app.plain", "x")));
  }

  @Test
  void droppedKeyOfUnusualForm_isCountedAsOther() {
    var registry = new SimpleMeterRegistry();
    telemetry.bindTo(registry);
    Span span = foreign().spanBuilder("s").startSpan();
    for (String key : List.of("a b", "Upper", "\u00e9", "x".repeat(101), "plain_1.key")) {
      span.setAttribute(key, "v");
    }
    span.end();
    assertThat(telemetry.flush(SOON)).isTrue();

    assertThat(registry.get("inferspan.attributes.dropped").functionCounters())
        .extracting(c -> c.getId().getTag("key") + "=" + (long) c.count())
        .containsExactlyInAnyOrder("other=4", "plain_1.key=1");
  }

  private Tracer foreign() {
    return telemetry.openTelemetry().getTracer("foreign");
  }
}
