package io.inferspan.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.nio.file.Files;
import java.nio.file.Path;

/** Provides {@code OTEL_TRACES_EXPORTER=otlp_file}: OTLP/JSON lines in a file. */
public final class OtlpFileExporterProvider implements ConfigurableSpanExporterProvider {

  /** The exporter's name in {@code OTEL_TRACES_EXPORTER}. */
  public static final String NAME = "otlp_file";

  private static final String PATH = "inferspan.otlp.file.path";
  private static final String MAX_BYTES = "inferspan.otlp.file.max.bytes";
  private static final String DEFAULT_PATH = "traces.jsonl";
  private static final long DEFAULT_MAX_BYTES = 256L << 20;

  /** Called by the service loader. */
  public OtlpFileExporterProvider() {}

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    Path file = Path.of(config.getString(PATH, DEFAULT_PATH)).toAbsolutePath();
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(file)) {
      throw new ConfigurationException(
          "INFERSPAN_OTLP_FILE_PATH is " + file + ", but must be a file in an existing directory");
    }
    long maxBytes = config.getLong(MAX_BYTES, DEFAULT_MAX_BYTES);
    if (maxBytes <= 0) {
      throw new ConfigurationException(
          "INFERSPAN_OTLP_FILE_MAX_BYTES is " + maxBytes + ", but must be above 0");
    }
    return JsonLinesSpanExporter.to(file, maxBytes);
  }
}
