package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.support.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The agent's settings. The command line overrides system properties, which override the
 * environment.
 */
final class AgentSettings {

  static final String RESOURCE = "otel.resource.attributes";

  /** Capacity of the queue of finished spans. */
  static final String QUEUE = "otel.bsp.max.queue.size";

  /**
   * OpenTelemetry's default of 2,048 suits a few spans per request; the agent can write a hundred
   * per request.
   */
  private static final String DEFAULT_QUEUE = "16384";

  /** The sampler of traces that start in the agent: those of engine steps. */
  private static final String SAMPLER = "otel.traces.sampler";

  private static final String SCOPE = Setting.SCOPE.property();

  private final String scope;
  private final boolean measured;
  private final Map<String, String> environment;

  /**
   * Creates settings.
   *
   * @param scope the scope on the command line; empty to use the setting
   * @param measured whether the command line enables run statistics of the programs
   */
  AgentSettings(String scope, boolean measured, Map<String, String> environment) {
    this.scope = scope;
    this.measured = measured;
    this.environment = environment;
  }

  BridgeConfig bridge() {
    return BridgeConfig.builderFrom(this::value).wholeProcess(true).build();
  }

  /** Returns a description of the scope. */
  String scope() {
    String watched = value(SCOPE);
    return watched == null || watched.equals("everything")
        ? "every process that receives a traceparent"
        : watched.replace(",", ", ");
  }

  /** Returns a description of the exporter's destination. */
  String destination() {
    String exporter = or(value("otel.traces.exporter"), "otlp");
    if (!exporter.equals("otlp")) {
      return exporter;
    }
    String general = or(value("otel.exporter.otlp.endpoint"), "http://localhost:4317");
    return or(value("otel.exporter.otlp.traces.endpoint"), general);
  }

  /** Returns the capacity of the queue of finished spans. */
  String queuedSpans() {
    return or(value(QUEUE), DEFAULT_QUEUE);
  }

  /** Returns the sampling settings: one in ten engine steps unless a sampler is set. */
  Map<String, String> sampling() {
    return value(SAMPLER) == null
        ? Map.of(SAMPLER, "parentbased_traceidratio", SAMPLER + ".arg", "0.1")
        : Map.of();
  }

  /**
   * Returns the configured resource attributes, with the host's name added unless they contain one.
   */
  String resource() {
    String set = or(value(RESOURCE), "");
    if (set.startsWith("host.name=") || set.contains(",host.name=")) {
      return set;
    }
    return "host.name=" + hostName() + (set.isEmpty() ? "" : "," + set);
  }

  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException hidden) {
      return "unknown";
    }
  }

  private static String or(@Nullable String value, String otherwise) {
    return value == null ? otherwise : value;
  }

  /**
   * Returns a setting; null if it is unset or blank, because Helm charts set every variable they
   * know.
   */
  private @Nullable String value(String property) {
    if (property.equals(SCOPE) && !scope.isEmpty()) {
      return scope;
    }
    if (property.equals(Setting.MEASURE_PROGRAMS.property()) && measured) {
      return "true";
    }
    String set = System.getProperty(property);
    String variable = property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    String value = set != null ? set : environment.get(variable);
    return value == null || value.isBlank() ? null : value.strip();
  }
}
