package io.inferspan.samples.kvcache;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/**
 * Provides an exporter that discards spans, so that {@code initTracing} records and batches them as
 * usual.
 */
public final class DiscardingExporterProvider implements ConfigurableSpanExporterProvider {

  static final String NAME = "discarding";

  /** Called by the service loader. */
  public DiscardingExporterProvider() {}

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    return SpanExporter.composite();
  }
}
