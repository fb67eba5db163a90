package io.inferspan.samples.kvcache;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/** Lets {@code initTracing} record and batch spans in full, and then throw them away. */
public final class DiscardingExporterProvider implements ConfigurableSpanExporterProvider {

  static final String NAME = "discarding";

  /** Made by the service loader. */
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
