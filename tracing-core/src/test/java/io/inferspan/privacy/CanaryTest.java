package io.inferspan.privacy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.Warnings;
import io.inferspan.testing.Canary;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Plants prompts in each place where one may enter, and searches all exported data for them. */
class CanaryTest {

  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir Path folder;
  private final Canary canary = Canary.random();
  private OtlpReceiver receiver;

  @BeforeEach
  void start() {
    receiver = OtlpReceiver.start();
  }

  @AfterEach
  void stop() {
    receiver.close();
  }

  @ParameterizedTest
  @EnumSource
  void ownRecording_overGrpc_sendsNoPrompt(Plant plant) {
    trace(TestOptions.exportingTo(receiver, "grpc"), plant);

    assertNothingReceived();
  }

  @ParameterizedTest
  @EnumSource
  void ownRecording_overHttp_sendsNoPrompt(Plant plant) {
    trace(TestOptions.exportingTo(receiver, "http/protobuf"), plant);

    assertNothingReceived();
  }

  @ParameterizedTest
  @EnumSource
  void ownRecording_toAFile_writesNoPrompt(Plant plant) throws Exception {
    Path file = folder.resolve("traces.jsonl");
    trace(
        TestOptions.tracingAll()
            .setting("otel.traces.exporter", "otlp_file")
            .setting("inferspan.otlp.file.path", file.toString()),
        plant);

    assertThat(file).isNotEmptyFile();
    canary.assertAbsentFrom(Files.readAllBytes(file));
  }

  @ParameterizedTest
  @EnumSource
  void sdkOfTheCaller_withTheGuard_sendsNoPrompt(Plant plant) {
    traceWithOwnSdk(Telemetry.guard(exporter()), plant);

    assertNothingReceived();
  }

  /** Shows that the prompts would be exported, and that the search finds them. */
  @ParameterizedTest
  @EnumSource
  void sdkOfTheCaller_withoutTheGuard_sendsThePrompt(Plant plant) {
    traceWithOwnSdk(exporter(), plant);

    if (plant.leaksUnguarded()) {
      assertThatThrownBy(this::assertNothingReceived)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("leaked");
    } else {
      assertNothingReceived();
    }
  }

  @ParameterizedTest
  @EnumSource
  void logsAndMeters_containNoPrompt(Plant plant) {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (Warnings logged = Warnings.collectFrom("")) {
      try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build())) {
        telemetry.bindTo(registry);
        plantAll(telemetry, plant);
      }
      canary.assertAbsentFrom(bytes(logged.sentences().toString()));
    }
    registry.getMeters().forEach(meter -> canary.assertAbsentFrom(bytes(meter.getId().toString())));
  }

  @Test
  void exceptionMessagesSetting_exportsOnlyThem() {
    TelemetryOptions.Builder options =
        TestOptions.exportingTo(receiver).setting("inferspan.exception.messages", "true");
    trace(options, Plant.FAILURE);
    assertThatThrownBy(this::assertNothingReceived).hasMessageContaining("leaked");

    receiver.clear();
    trace(options, Plant.FOREIGN_CONTENT);
    assertNothingReceived();
  }

  private void trace(TelemetryOptions.Builder options, Plant plant) {
    try (Telemetry telemetry = Telemetry.initTracing(options.build())) {
      plantAll(telemetry, plant);
    }
  }

  private void traceWithOwnSdk(SpanExporter exporter, Plant plant) {
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
            .build();
    try (OpenTelemetrySdk sdk =
            OpenTelemetrySdk.builder()
                .setTracerProvider(provider)
                .setPropagators(
                    ContextPropagators.create(
                        TextMapPropagator.composite(
                            W3CTraceContextPropagator.getInstance(),
                            W3CBaggagePropagator.getInstance())))
                .build();
        Telemetry telemetry = Telemetry.using(sdk)) {
      plantAll(telemetry, plant);
      provider.forceFlush().join(SOON.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private void plantAll(Telemetry telemetry, Plant plant) {
    canary.planted().forEach(prompt -> plant.plant(telemetry, prompt));
  }

  private SpanExporter exporter() {
    return OtlpGrpcSpanExporter.builder().setEndpoint(receiver.endpoint()).build();
  }

  private void assertNothingReceived() {
    assertThat(receiver.spans()).hasSize(canary.planted().size());
    assertThat(receiver.discardedBodies()).isZero();
    canary.assertAbsentFrom(receiver.rawBodies());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
