package io.inferspan.samples.desk;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The tracing of a fake engine: its spans go to a desk, and are kept here as well. */
final class EngineTraces implements AutoCloseable {

  private final Map<String, SpanData> byTrace = new ConcurrentHashMap<>();
  private final OpenTelemetrySdk sdk;

  EngineTraces(String service, int deskPort) {
    sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setResource(
                        Resource.create(
                            Attributes.of(AttributeKey.stringKey("service.name"), service)))
                    .addSpanProcessor(new Keeping())
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

  /** The engine's span of a trace; it is there before the client has its answer. */
  SpanData span(String trace) {
    SpanData span = byTrace.get(trace);
    if (span == null) {
      throw new AssertionError("the engine has no span of " + trace);
    }
    return span;
  }

  @Override
  public void close() {
    sdk.close();
  }

  /** Keeps the last span of each trace. */
  private final class Keeping implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      byTrace.put(span.getSpanContext().getTraceId(), span.toSpanData());
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
