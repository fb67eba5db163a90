package io.inferspan.samples.quickstart;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How the services of the demo are traced: one process here, but each with a telemetry of its own,
 * as if they ran on different machines.
 */
final class Tracing implements AutoCloseable {

  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  private final Map<String, String> settings;
  private final SpanNaming naming;
  private final Telemetry gateway;
  private final List<OpenTelemetrySdk> sdks = new ArrayList<>();

  /**
   * Starts tracing.
   *
   * @param naming the generation of span names
   * @param settings {@code otel.*} properties that all services share
   */
  Tracing(SpanNaming naming, Map<String, String> settings) {
    this.naming = naming;
    this.settings = settings;
    // A program that is one service needs no more than Telemetry.initTracing("its-name").
    TelemetryOptions.Builder options = options().serviceName("llm-gateway");
    settings.forEach(options::setting);
    this.gateway = Telemetry.initTracing(options.build());
  }

  /** The gateway's telemetry, which is the process's own. */
  Telemetry gateway() {
    return gateway;
  }

  /** The telemetry of a second service, over an OpenTelemetry that somebody else has set up. */
  Telemetry service(String name) {
    return Telemetry.using(sdk(name), options().build());
  }

  /** An OpenTelemetry that speaks for the service {@code name}. */
  OpenTelemetrySdk sdk(String name) {
    Map<String, String> own = new HashMap<>(settings);
    own.put("otel.service.name", name);
    own.put("otel.metrics.exporter", "none");
    own.put("otel.logs.exporter", "none");
    OpenTelemetrySdk sdk =
        AutoConfiguredOpenTelemetrySdk.builder()
            .disableShutdownHook()
            .addPropertiesCustomizer(config -> own)
            // initTracing does this by itself: content stays here, only metadata leaves.
            .addSpanExporterCustomizer((exporter, config) -> Telemetry.guard(exporter))
            .build()
            .getOpenTelemetrySdk();
    sdks.add(sdk);
    return sdk;
  }

  private TelemetryOptions.Builder options() {
    return TelemetryOptions.builder().spanNaming(naming).closeTimeout(CLOSE_TIMEOUT);
  }

  /** Whether all exporters have taken the gateway's spans within a bound. */
  boolean flush() {
    return gateway.flush(FLUSH_TIMEOUT);
  }

  /** Sends what there is, within a bound. */
  @Override
  public void close() {
    List<CompletableResultCode> closing = sdks.stream().map(OpenTelemetrySdk::shutdown).toList();
    gateway.close();
    CompletableResultCode.ofAll(closing).join(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
  }
}
