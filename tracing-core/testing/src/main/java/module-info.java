/** Test kit for traces: receivers, trees, assertions, clocks and canaries. */
module io.inferspan.testing {
  requires transitive io.opentelemetry.api;
  requires transitive io.opentelemetry.context;
  requires transitive io.opentelemetry.sdk;
  requires transitive io.opentelemetry.sdk.common;
  requires transitive io.opentelemetry.sdk.trace;
  requires io.opentelemetry.exporter.internal;
  requires io.opentelemetry.exporter.internal.otlp;
  requires io.opentelemetry.proto;
  requires com.google.protobuf;
  requires io.vertx.core;
  requires com.fasterxml.jackson.core;
  requires static transitive org.assertj.core;
  requires static transitive org.junit.jupiter.api;
  requires static org.jspecify;

  exports io.inferspan.testing;
  exports io.inferspan.testing.engine;
  exports io.inferspan.testing.otlp;
}
