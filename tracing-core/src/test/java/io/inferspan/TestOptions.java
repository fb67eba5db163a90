package io.inferspan;

import io.inferspan.testing.otlp.OtlpReceiver;
import java.time.Duration;

/** Options with which a test sees every span, and soon. */
public final class TestOptions {

  private TestOptions() {}

  /** Everything is sampled and sent at once; where to, the test says. */
  public static TelemetryOptions.Builder tracingAll() {
    return TelemetryOptions.builder()
        .serviceName("test-gateway")
        .closeTimeout(Duration.ofSeconds(5))
        .setting("otel.traces.sampler", "always_on")
        .setting("otel.bsp.schedule.delay", "20");
  }

  /** Everything goes to {@code receiver}, over gRPC. */
  public static TelemetryOptions.Builder exportingTo(OtlpReceiver receiver) {
    return tracingAll().setting("otel.exporter.otlp.endpoint", receiver.endpoint());
  }

  /** Everything goes to {@code receiver}, over {@code protocol}. */
  public static TelemetryOptions.Builder exportingTo(OtlpReceiver receiver, String protocol) {
    return exportingTo(receiver).setting("otel.exporter.otlp.protocol", protocol);
  }

  /** Spans are made and sampled, and sent nowhere. */
  public static TelemetryOptions.Builder exportingNowhere() {
    return tracingAll().setting("otel.traces.exporter", "none");
  }
}
