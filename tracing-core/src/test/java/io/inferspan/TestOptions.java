package io.inferspan;

import io.inferspan.testing.otlp.OtlpReceiver;
import java.time.Duration;

/** Options that sample each span and export it soon. */
public final class TestOptions {

  private TestOptions() {}

  /** Returns options without a destination. */
  public static TelemetryOptions.Builder tracingAll() {
    return TelemetryOptions.builder()
        .serviceName("test-gateway")
        .closeTimeout(Duration.ofSeconds(5))
        .setting("otel.traces.sampler", "always_on")
        .setting("otel.bsp.schedule.delay", "20");
  }

  /** Returns options that export to {@code receiver} over gRPC. */
  public static TelemetryOptions.Builder exportingTo(OtlpReceiver receiver) {
    return tracingAll().setting("otel.exporter.otlp.endpoint", receiver.endpoint());
  }

  /** Returns options that export to {@code receiver} over {@code protocol}. */
  public static TelemetryOptions.Builder exportingTo(OtlpReceiver receiver, String protocol) {
    return exportingTo(receiver).setting("otel.exporter.otlp.protocol", protocol);
  }

  /** Returns options that record spans and export none. */
  public static TelemetryOptions.Builder exportingNowhere() {
    return tracingAll().setting("otel.traces.exporter", "none");
  }
}
