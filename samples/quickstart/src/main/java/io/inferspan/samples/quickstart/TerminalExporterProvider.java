package io.inferspan.samples.quickstart;

import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/**
 * {@code otel.traces.exporter=terminal}: OTLP/gRPC to the receiver whose spans end up in the
 * terminal, beside the collector that {@code OTEL_EXPORTER_OTLP_ENDPOINT} may name.
 */
public final class TerminalExporterProvider implements ConfigurableSpanExporterProvider {

  static final String NAME = "terminal";
  static final String ENDPOINT = "quickstart.terminal.endpoint";

  /** Called by the service loader. */
  public TerminalExporterProvider() {}

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    return OtlpGrpcSpanExporter.builder().setEndpoint(config.getString(ENDPOINT, "")).build();
  }
}
