package io.inferspan.samples.benchmarks;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/** Lets {@code initTracing} find the {@link DiscardingExporter}. */
public final class DiscardingExporterProvider implements ConfigurableSpanExporterProvider {

  static final String NAME = "discarding";

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    return new DiscardingExporter();
  }
}
