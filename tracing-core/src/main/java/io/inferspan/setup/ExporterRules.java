package io.inferspan.setup;

import io.inferspan.export.ConsoleExporterProvider;
import io.inferspan.export.OtlpFileExporterProvider;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Which exporters are taken, what stands in for others, and over which protocol OTLP goes. */
final class ExporterRules {

  static final String EXPORTER = "otel.traces.exporter";
  static final String PROTOCOL = "otel.exporter.otlp.protocol";
  static final String TRACES_PROTOCOL = "otel.exporter.otlp.traces.protocol";

  static final String OTLP = "otlp";
  private static final String CONSOLE = "console";
  private static final String NONE = "none";
  private static final String GRPC = "grpc";
  static final String HTTP = "http/protobuf";

  private ExporterRules() {}

  static void apply(Corrections corrections) {
    List<String> names = corrections.config().getList(EXPORTER);
    ComponentLoader plugins = corrections.config().getComponentLoader();
    Set<String> known = known(plugins);
    Set<String> used = new LinkedHashSet<>();
    boolean unknown = false;
    for (String name : names) {
      unknown |= !known.contains(name);
      used.add(known.contains(name) ? exporterName(name) : OTLP);
    }
    if (used.contains(NONE) && used.size() > 1) {
      corrections.replace(EXPORTER, NONE, "none alone, or other exporters");
    } else if (unknown) {
      corrections.replace(EXPORTER, String.join(",", used), "otlp, otlp_file, console or none");
    } else if (names.contains(CONSOLE)) {
      corrections.replace(EXPORTER, String.join(",", used));
    }
    if (used.isEmpty() || used.contains(OTLP)) {
      corrections.replace(TRACES_PROTOCOL, protocol(corrections));
    }
  }

  private static Set<String> known(ComponentLoader plugins) {
    Set<String> known = new LinkedHashSet<>();
    known.addAll(List.of(OTLP, OtlpFileExporterProvider.NAME, CONSOLE, NONE));
    for (ConfigurableSpanExporterProvider provider :
        plugins.load(ConfigurableSpanExporterProvider.class)) {
      known.add(provider.getName());
    }
    return known;
  }

  private static String exporterName(String name) {
    return name.equals(CONSOLE) ? ConsoleExporterProvider.NAME : name;
  }

  /** The protocol chosen; where only HTTP can be spoken, HTTP is the default. */
  static String protocol(Corrections corrections) {
    String chosen = corrections.config().getString(TRACES_PROTOCOL);
    if (chosen == null) {
      chosen = corrections.config().getString(PROTOCOL);
    }
    if (chosen != null) {
      return chosen;
    }
    ComponentLoader plugins = corrections.config().getComponentLoader();
    boolean grpc = plugins.load(GrpcSenderProvider.class).iterator().hasNext();
    boolean http = plugins.load(HttpSenderProvider.class).iterator().hasNext();
    return grpc || !http ? GRPC : HTTP;
  }
}
