/** Embeddable OpenTelemetry tracing for LLM gateways. */
@SuppressWarnings("module") // The modules named after "to" are built later.
module io.inferspan {
  // API
  exports io.inferspan;
  exports io.inferspan.catalog;
  exports io.inferspan.semconv;
  exports io.inferspan.propagation;
  exports io.inferspan.export;
  exports io.inferspan.response;

  // For our other modules
  exports io.inferspan.json to
      io.inferspan.epp,
      io.inferspan.gateway,
      io.inferspan.extproc;
  exports io.inferspan.values to
      io.inferspan.epp,
      io.inferspan.gateway;

  requires transitive io.opentelemetry.api;
  requires transitive io.opentelemetry.context;
  requires transitive io.opentelemetry.sdk.autoconfigure.spi;
  requires transitive io.opentelemetry.sdk.common;
  requires transitive io.opentelemetry.sdk.trace;
  requires io.opentelemetry.common;
  requires io.opentelemetry.exporter.internal;
  requires io.opentelemetry.exporter.internal.otlp;
  requires io.opentelemetry.sdk;
  requires io.opentelemetry.sdk.autoconfigure;
  requires static micrometer.core;
  requires static org.jspecify;

  uses io.inferspan.TelemetryExtension;

  provides io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider with
      io.inferspan.exporter.ConsoleExporterProvider,
      io.inferspan.exporter.OtlpFileExporterProvider;
}
