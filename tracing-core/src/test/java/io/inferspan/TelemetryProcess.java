package io.inferspan;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.SpanNaming;
import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.TreeMap;

/**
 * A program that its environment configures: the main class of a {@link ChildJvm}.
 *
 * <p>The first argument selects what it does. {@code roots:<n>} starts {@code n} root spans and
 * closes. {@code leave} and {@code leave-hooked} return without closing, the latter with a shutdown
 * hook. {@code precedence} sets the service name in three places. {@code global-twice} registers
 * globally, closes and starts again.
 */
public final class TelemetryProcess {

  private TelemetryProcess() {}

  /** Does what the first argument selects. */
  public static void main(String[] arguments) {
    Map<String, String> environment = otelVariables();
    Map<String, String> properties = otelProperties();
    switch (arguments[0]) {
      case "leave" -> makeRoots(Telemetry.initTracing(), 1);
      case "leave-hooked" ->
          makeRoots(Telemetry.initTracing(TelemetryOptions.builder().closeOnShutdown().build()), 1);
      case "precedence" -> precedence();
      case "global-twice" -> globalTwice();
      default -> closed(Integer.parseInt(arguments[0].substring("roots:".length())));
    }
    if (!arguments[0].equals("precedence")) {
      System.out.println("untouched=" + environment.equals(otelVariables()));
      System.out.println("properties=" + properties.equals(otelProperties()));
    }
  }

  private static Map<String, String> otelVariables() {
    Map<String, String> variables = new TreeMap<>(System.getenv());
    variables.keySet().removeIf(name -> !name.startsWith("OTEL_"));
    return variables;
  }

  private static Map<String, String> otelProperties() {
    Map<String, String> properties = new TreeMap<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith("otel.") || name.startsWith("inferspan.")) {
        properties.put(name, System.getProperty(name));
      }
    }
    return properties;
  }

  private static void closed(int roots) {
    Telemetry telemetry = Telemetry.initTracing();
    makeRoots(telemetry, roots);
    telemetry.close();
    System.out.println("started=" + telemetry.spanCounts().started());
    System.out.println("exported=" + telemetry.spanCounts().exported());
  }

  private static void globalTwice() {
    makeOne(TelemetryOptions.builder().registerGlobally());
    System.err.println("again");
    makeOne(TelemetryOptions.builder());
  }

  private static void precedence() {
    makeOne(TelemetryOptions.builder().serviceName("default"));
    System.setProperty("otel.service.name", "from-property");
    makeOne(TelemetryOptions.builder().serviceName("default"));
    makeOne(TelemetryOptions.builder().setting("otel.service.name", "from-program"));
    System.setProperty("inferspan.span.names", SpanNaming.CURRENT.setting());
    makeOne(TelemetryOptions.builder());
    makeOne(TelemetryOptions.builder().spanNaming(SpanNaming.V0_9));
  }

  private static void makeOne(TelemetryOptions.Builder options) {
    try (Telemetry telemetry = Telemetry.initTracing(options.build())) {
      makeRoots(telemetry, 1);
    }
  }

  private static void makeRoots(Telemetry telemetry, int roots) {
    for (int i = 0; i < roots; i++) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
    }
  }
}
