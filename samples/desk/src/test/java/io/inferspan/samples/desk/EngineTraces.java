package io.inferspan.samples.desk;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;

/** The tracing of a fake engine: its spans go to a desk. */
final class EngineTraces implements AutoCloseable {

  private final OpenTelemetrySdk sdk;

  EngineTraces(String service, int deskPort) {
    sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setResource(
                        Resource.create(
                            Attributes.of(AttributeKey.stringKey("service.name"), service)))
                    .addSpanProcessor(
                        BatchSpanProcessor.builder(
                                OtlpGrpcSpanExporter.builder()
                                    .setEndpoint("http://127.0.0.1:" + deskPort)
                                    .build())
                            .setScheduleDelay(Duration.ofMillis(50))
                            .build())
                    .build())
            .build();
  }

  OpenTelemetry openTelemetry() {
    return sdk;
  }

  @Override
  public void close() {
    sdk.close();
  }
}
