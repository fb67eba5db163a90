package io.inferspan.testing;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;

class TracingExtensionTest {
  private static final ManualClock CLOCK = ManualClock.create();

  @RegisterExtension
  final TracingExtension registered = TracingExtension.builder().clock(CLOCK).build();

  private final TracingExtension tracing = TracingExtension.create();

  private static Tracer tracer(TracingExtension extension) {
    return extension.openTelemetry().getTracer("test");
  }

  @Test
  void registeredExtension_keepsSpansWithExactTimes() {
    Span span = tracer(registered).spanBuilder("work").startSpan();
    CLOCK.advance(Duration.ofMillis(250));
    span.end();
    SpanRecord work = assertThatSpans(registered.spans()).span("work");
    assertThat(work.duration()).isEqualTo(Duration.ofMillis(250));
  }

  @Test
  void openSpan_failsTheTestByName() {
    Span forgotten = tracer(tracing).spanBuilder("forgotten").startSpan();
    tracer(tracing).spanBuilder("ended").startSpan().end();
    assertThatThrownBy(() -> tracing.afterEach(context()))
        .isInstanceOf(AssertionError.class)
        .hasMessage("the test did not end these spans: [forgotten]");

    assertThatCode(() -> tracing.afterEach(context()))
        .as("the next test")
        .doesNotThrowAnyException();
    forgotten.end();
    assertThat(tracing.spans()).as("a late end is not the next test's span").isEmpty();
  }

  @Test
  void afterEachTest_theExtensionIsEmpty() {
    tracer(tracing).spanBuilder("a").startSpan().end();
    assertThat(tracing.spans()).hasSize(1);
    tracing.afterEach(context());
    assertThat(tracing.spans()).isEmpty();
  }

  @Test
  void sampler_selectsTheStoredSpans() {
    TracingExtension off = TracingExtension.builder().sampler(Sampler.alwaysOff()).build();
    tracer(off).spanBuilder("a").startSpan().end();
    assertThat(off.spans()).isEmpty();
    assertThatCode(() -> off.afterEach(context())).doesNotThrowAnyException();
  }

  @Test
  void recordedButUnsampledSpans_areNotStored_butMustEnd() {
    TracingExtension recording = TracingExtension.builder().sampler(new RecordOnly()).build();
    tracer(recording).spanBuilder("a").startSpan().end();
    assertThat(recording.spans()).isEmpty();
    Span open = tracer(recording).spanBuilder("open").startSpan();
    assertThatThrownBy(() -> recording.afterEach(context())).hasMessageContaining("[open]");
    open.end();
  }

  private static final class RecordOnly implements Sampler {
    @Override
    public SamplingResult shouldSample(
        Context parent,
        String traceId,
        String name,
        SpanKind kind,
        Attributes attributes,
        List<LinkData> links) {
      return SamplingResult.recordOnly();
    }

    @Override
    public String getDescription() {
      return "record only";
    }
  }

  @Test
  void propagators_areW3c() {
    Span span = tracer(tracing).spanBuilder("a").startSpan();
    Context context =
        Context.root().with(span).with(Baggage.builder().put("tenant", "blue").build());
    Map<String, String> headers = new HashMap<>();
    tracing
        .openTelemetry()
        .getPropagators()
        .getTextMapPropagator()
        .inject(context, headers, (carrier, key, value) -> headers.put(key, value));
    span.end();
    assertThat(headers).containsOnlyKeys("traceparent", "baggage");
    assertThat(headers.get("traceparent")).contains(span.getSpanContext().getTraceId());
  }

  @Test
  void awaitSpans_seesSpansOfOtherThreads() {
    Thread thread = new Thread(() -> tracer(tracing).spanBuilder("late").startSpan().end());
    thread.setDaemon(true);
    thread.start();
    assertThat(tracing.awaitSpans(1, Duration.ofSeconds(10))).hasSize(1);
  }

  @Test
  void awaitSpans_reportsOpenSpans() {
    Span open = tracer(tracing).spanBuilder("slow").startSpan();
    assertThatThrownBy(() -> tracing.awaitSpans(1, Duration.ofMillis(20)))
        .isInstanceOf(AssertionError.class)
        .hasMessage("expected 1 spans within 20 ms, but 0 arrived: []; still open: [slow]");
    open.end();
  }

  /** Returns a context, which the extension does not read. */
  private static ExtensionContext context() {
    return (ExtensionContext)
        Proxy.newProxyInstance(
            TracingExtensionTest.class.getClassLoader(),
            new Class<?>[] {ExtensionContext.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }
}
