package io.inferspan.samples.benchmarks;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;

/** The implementations to compare Inferspan with, and the OpenTelemetry instance that they use. */
record Peers(OpenTelemetry openTelemetry, RawRequest raw, MicrometerRequest micrometer)
    implements AutoCloseable {

  static Peers off() {
    return over(OpenTelemetry.noop());
  }

  static Peers batching() {
    return over(
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(0.1)))
                    .addSpanProcessor(BatchSpanProcessor.create(new DiscardingExporter()))
                    .build())
            .build());
  }

  private static Peers over(OpenTelemetry openTelemetry) {
    return new Peers(
        openTelemetry,
        new RawRequest(openTelemetry.getTracer("raw")),
        new MicrometerRequest(openTelemetry.getTracer("micrometer")));
  }

  @Override
  public void close() {
    if (openTelemetry instanceof OpenTelemetrySdk sdk) {
      sdk.close();
    }
  }
}
