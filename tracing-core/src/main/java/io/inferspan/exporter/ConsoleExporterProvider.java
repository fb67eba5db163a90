package io.inferspan.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/**
 * Provides {@code OTEL_TRACES_EXPORTER=console}: OTLP/JSON lines on standard output.
 *
 * <p>It is registered under another name, because the SDK would call an exporter named {@code
 * console} on the thread that ends the span.
 */
public final class ConsoleExporterProvider implements ConfigurableSpanExporterProvider {

  /** The name under which the exporter is registered. */
  public static final String NAME = "inferspan-console";

  /** Called by the service loader. */
  public ConsoleExporterProvider() {}

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    return JsonLinesSpanExporter.to(System.out);
  }
}
