package io.inferspan;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of a span, for each way to create a {@link Telemetry}. */
class OperationSpanTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Map<String, String> SAMPLED =
      Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  private static final Map<String, String> UNSAMPLED =
      Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");

  @Nested
  class RecordedByUs extends OperationSpanContract {

    private final OtlpReceiver receiver = OtlpReceiver.start();
    private final Telemetry telemetry =
        Telemetry.initTracing(TestOptions.exportingTo(receiver).build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    List<SpanRecord> spans(int count) {
      telemetry.flush(SOON);
      return receiver.awaitSpans(count, SOON);
    }

    @AfterEach
    void close() {
      telemetry.close();
      receiver.close();
    }
  }

  @Nested
  class RecordedByTheCallersSdk extends OperationSpanContract {

    @RegisterExtension final TracingExtension tracing = TracingExtension.create();

    @Override
    Telemetry telemetry() {
      return Telemetry.using(tracing.openTelemetry());
    }

    @Override
    List<SpanRecord> spans(int count) {
      return tracing.awaitSpans(count, SOON);
    }
  }

  /** The contract of a span that is not recorded. */
  abstract static class Unrecorded {

    abstract Telemetry telemetry();

    abstract Context parent();

    @AfterEach
    void close() {
      telemetry().close();
    }

    @Test
    void context_isTheParents() {
      Context parent = parent();
      OperationSpan span = telemetry().span(GatewaySpans.REQUEST, parent).start();
      OperationSpan child = telemetry().span(GatewaySpans.ORCHESTRATION, span).start();

      assertThat(span.context()).isSameAs(parent);
      assertThat(child.context()).isSameAs(parent);
      assertThat(child.recording()).isFalse();
    }

    @Test
    void calls_neitherThrowNorHaveEffects() {
      OperationSpan span = telemetry().span(GatewaySpans.REQUEST, parent()).start();
      Context before = span.context();
      span.set(GenAiAttributes.REQUEST_MODEL, null)
          .setMillis(GenAiAttributes.REQUEST_TEMPERATURE, 1)
          .fail(new IllegalStateException("x"))
          .fail("t", "d");
      span.close();
      span.close();

      assertThat(span.context()).isSameAs(before);
      Span current = Span.fromContext(before);
      current.setAttribute("k", "v").addEvent("e").recordException(new Exception()).end();
      assertThat(current.isRecording()).isFalse();
    }

    @Test
    void timesAndLinks_areIgnored() {
      Context parent = parent();
      PendingSpan pending = telemetry().span(GatewaySpans.REQUEST, parent);
      OperationSpan span =
          pending
              .startingAt(5)
              .linkedTo(Span.fromContext(parent).getSpanContext(), Attributes.empty())
              .start();
      span.closeAt(7);

      assertThat(span.recording()).isFalse();
      assertThat(span.context()).isSameAs(parent);
      assertThat(telemetry().spanCounts().ended()).isZero();
    }

    @Test
    void spans_allocateNothing() {
      var threads = ManagementFactory.getThreadMXBean();
      assumeTrue(
          threads instanceof com.sun.management.ThreadMXBean bean
              && bean.isThreadAllocatedMemorySupported(),
          "this JVM does not count allocations");
      var counting = (com.sun.management.ThreadMXBean) threads;
      long thread = Thread.currentThread().getId();
      Context parent = parent();
      trace(parent, 20_000);

      long before = counting.getThreadAllocatedBytes(thread);
      trace(parent, 100_000);
      long allocated = counting.getThreadAllocatedBytes(thread) - before;
      // Less than one byte per span; the JVM itself allocates the rest.
      assertThat(allocated).isLessThan(50_000);
    }

    private void trace(Context parent, int requests) {
      Telemetry telemetry = telemetry();
      for (int i = 0; i < requests; i++) {
        OperationSpan request =
            telemetry
                .span(GatewaySpans.REQUEST, parent)
                .set(GenAiAttributes.REQUEST_MAX_TOKENS, 1_000_000L + i)
                .start();
        OperationSpan child = telemetry.span(EppSpans.SCORER, "load", request).start();
        child.set(GenAiAttributes.REQUEST_TEMPERATURE, i / 3.0);
        child.setMillis(GenAiAttributes.REQUEST_TOP_P, i);
        child.set(GenAiAttributes.REQUEST_STREAM, i % 2 == 0).fail("t", "d");
        child.close();
        request.close();
      }
    }
  }

  @Nested
  class Disabled extends Unrecorded {

    private final Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.tracingAll().setting("otel.sdk.disabled", "true").build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return telemetry.extract(SAMPLED, HEADERS);
    }
  }

  @Nested
  class DisabledWithoutACaller extends Unrecorded {

    private final Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.tracingAll().setting("otel.sdk.disabled", "true").build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return Context.root();
    }
  }

  @Nested
  class OverNoop extends Unrecorded {

    private final Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return Context.root();
    }
  }

  @Nested
  class UnsampledByTheCaller extends Unrecorded {

    private final Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere()
                .setting("otel.traces.sampler", "parentbased_always_on")
                .build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return telemetry.extract(UNSAMPLED, HEADERS);
    }
  }

  @Nested
  class UnderAnUnsampledRoot extends Unrecorded {

    private final Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere()
                .setting("otel.traces.sampler", "parentbased_always_off")
                .build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return telemetry.span(GatewaySpans.REQUEST, Context.root()).start().context();
    }
  }

  @Nested
  class UnsampledByASamplerThatNeverDoes extends Unrecorded {

    private final Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere().setting("otel.traces.sampler", "always_off").build());

    @Override
    Telemetry telemetry() {
      return telemetry;
    }

    @Override
    Context parent() {
      return telemetry.extract(UNSAMPLED, HEADERS);
    }
  }

  static Stream<Sampler> samplersThatOverrideARemoteParent() {
    Sampler nested = Sampler.parentBased(Sampler.alwaysOn());
    return Stream.of(
        Sampler.parentBasedBuilder(nested).setRemoteParentNotSampled(Sampler.alwaysOn()).build(),
        Sampler.parentBasedBuilder(Sampler.alwaysOn())
            .setRemoteParentNotSampled(Sampler.alwaysOn())
            .setLocalParentSampled(nested)
            .build());
  }

  @ParameterizedTest
  @MethodSource("samplersThatOverrideARemoteParent")
  void nestedSamplerThatOverridesARemoteParent_isCalled(Sampler sampler) {
    OpenTelemetrySdk sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setSampler(sampler)
                    .addSpanProcessor(SimpleSpanProcessor.create(InMemorySpanExporter.create()))
                    .build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();
    Telemetry telemetry = Telemetry.using(sdk);
    Context parent = telemetry.extract(UNSAMPLED, HEADERS);

    assertThat(telemetry.span(GatewaySpans.REQUEST, parent).start().recording()).isTrue();
  }

  @Test
  void samplerThatOverridesTheParent_isCalledForAnUnsampledParent() {
    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      Context parent = telemetry.extract(UNSAMPLED, HEADERS);

      assertThat(telemetry.span(GatewaySpans.REQUEST, parent).start().recording()).isTrue();
    }
  }

  @Test
  void parentsDecision_isFollowed() {
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere()
                .setting("otel.traces.sampler", "parentbased_always_off")
                .build())) {
      Context parent = telemetry.extract(SAMPLED, HEADERS);

      assertThat(telemetry.span(GatewaySpans.REQUEST, parent).start().recording()).isTrue();
    }
  }
}
