package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.propagation.HeaderMap;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Getters, setters, samplers and processors of users that throw: no request fails. */
class HostilePartsTest {

  static Stream<OpenTelemetry> openTelemetries() {
    ContextPropagators w3c = ContextPropagators.create(W3CTraceContextPropagator.getInstance());
    return Stream.of(
        OpenTelemetrySdk.builder().setPropagators(w3c).build(), OpenTelemetry.propagating(w3c));
  }

  @ParameterizedTest
  @MethodSource("openTelemetries")
  void throwingGetter_yieldsTheRootContext(OpenTelemetry openTelemetry) {
    try (Telemetry telemetry = Telemetry.using(openTelemetry)) {
      Context extracted = telemetry.extract(Map.of("traceparent", "00"), new ThrowingGetter());

      assertThat(extracted).isSameAs(Context.root());
    }
  }

  @ParameterizedTest
  @MethodSource("openTelemetries")
  void throwingSetter_writesNothing(OpenTelemetry openTelemetry) {
    String caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    try (Telemetry telemetry = Telemetry.using(openTelemetry)) {
      Context context = telemetry.extract(Map.of("traceparent", caller), HeaderMap.HEADERS);
      OperationSpan span = telemetry.span(GatewaySpans.REQUEST, context).start();
      Map<String, String> headers = new HashMap<>();
      telemetry.inject(span, headers, HostilePartsTest::refuse);
      telemetry.inject(context, headers, HostilePartsTest::refuse);

      assertThat(headers).isEmpty();
    }
  }

  private static void refuse(@Nullable Map<String, String> headers, String name, String value) {
    throw new IllegalStateException(name);
  }

  @Test
  void throwingSampler_dropsOnlyTheSpan() {
    OpenTelemetrySdk sdk =
        sdk(
            SdkTracerProvider.builder()
                .setSampler(new ThrowingSampler())
                .addSpanProcessor(SimpleSpanProcessor.create(InMemorySpanExporter.create())));
    OperationSpan span = Telemetry.using(sdk).span(GatewaySpans.REQUEST, Context.root()).start();

    assertThat(span.recording()).isFalse();
    assertThat(span.context()).isSameAs(Context.root());
    assertThatCode(span::close).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"start", "end"})
  void throwingProcessor_doesNotFailTheCaller(String when) {
    OpenTelemetrySdk sdk =
        sdk(SdkTracerProvider.builder().addSpanProcessor(new ThrowingProcessor(when)));
    Telemetry telemetry = Telemetry.using(sdk);
    OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();

    assertThat(span.recording()).isEqualTo(when.equals("end"));
    assertThatCode(span::close).doesNotThrowAnyException();
    OperationSpan late = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    assertThatCode(() -> late.closeAt(7)).doesNotThrowAnyException();
  }

  private static OpenTelemetrySdk sdk(SdkTracerProviderBuilder provider) {
    return OpenTelemetrySdk.builder().setTracerProvider(provider.build()).build();
  }

  private static final class ThrowingGetter implements TextMapGetter<Map<String, String>> {

    @Override
    @SuppressWarnings("deprecation") // deprecated, but abstract
    public Iterable<String> keys(Map<String, String> carrier) {
      throw new IllegalStateException("keys");
    }

    @Override
    public String get(@Nullable Map<String, String> carrier, String key) {
      throw new IllegalStateException("get");
    }
  }

  private static final class ThrowingSampler implements Sampler {

    @Override
    public SamplingResult shouldSample(
        Context parent,
        String traceId,
        String name,
        SpanKind kind,
        Attributes attributes,
        List<LinkData> links) {
      throw new IllegalStateException("sampler");
    }

    @Override
    public String getDescription() {
      return "throwing";
    }
  }

  private record ThrowingProcessor(String when) implements SpanProcessor {

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      throw new IllegalStateException("start");
    }

    @Override
    public boolean isStartRequired() {
      return when.equals("start");
    }

    @Override
    public void onEnd(ReadableSpan span) {
      throw new IllegalStateException("end");
    }

    @Override
    public boolean isEndRequired() {
      return when.equals("end");
    }
  }
}
