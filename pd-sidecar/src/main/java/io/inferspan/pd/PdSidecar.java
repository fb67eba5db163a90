package io.inferspan.pd;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.pd.config.ConfigException;
import io.inferspan.pd.config.Invocation;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.Loops;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The program: {@code java -jar inferspan-pd-sidecar.jar}. */
public final class PdSidecar {
  static final int SERVING = -1;

  private static final int WRONG_CONFIGURATION = 2;
  private static final int CANNOT_START = 1;
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);
  private static final String SERVICE = "llm-d-pd-proxy";

  private PdSidecar() {}

  public static void main(String[] args) {
    int status = run(List.of(args), System.getenv(), System.out, System.err);
    if (status >= 0) {
      System.exit(status);
    }
  }

  /** Runs the program; returns the exit status, or {@link #SERVING} if the sidecar is serving. */
  static int run(List<String> args, Map<String, String> env, PrintStream out, PrintStream err) {
    try {
      Invocation invocation = Invocation.parse(args, env);
      // Not a switch over types: the JVM links it at run time, which the AOT cache does not store.
      if (invocation instanceof Invocation.Run run) {
        serve(run.config());
        return SERVING;
      }
      out.println(
          invocation instanceof Invocation.ShowHelp help
              ? help.text()
              : "inferspan-pd-sidecar " + version());
      return 0;
    } catch (ConfigException | IllegalArgumentException e) {
      err.println(e.getMessage());
      return WRONG_CONFIGURATION;
    } catch (IOException e) {
      err.println(e.getMessage());
      return CANNOT_START;
    }
  }

  private static String version() {
    String version = PdSidecar.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  private static void serve(SidecarConfig config) throws IOException {
    LogFormat.install(config.get(Settings.LOG_LEVEL));
    Logger logger = System.getLogger("io.inferspan.pd");
    config.notes().forEach(note -> logger.log(Level.WARNING, note));
    Loops loops = SidecarServer.loops(config);
    Telemetry telemetry = telemetry(config, logger);
    SidecarServer server = SidecarServer.start(config, loops, telemetry);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> stop(config, server, telemetry, loops), "inferspan-shutdown"));
    logger.log(Level.INFO, server::describe);
  }

  private static Telemetry telemetry(SidecarConfig config, Logger logger) {
    if (!config.get(Settings.TRACING)) {
      return Telemetry.using(OpenTelemetry.noop());
    }
    try {
      return Telemetry.initTracing(
          TelemetryOptions.builder().serviceName(SERVICE).closeTimeout(FLUSH_TIMEOUT).build());
    } catch (RuntimeException e) {
      // Serving matters more than tracing: an invalid OTEL_* value must not stop a pod.
      logger.log(Level.WARNING, "Requests are not traced: " + firstLine(e.getMessage()));
      return Telemetry.using(OpenTelemetry.noop());
    }
  }

  private static String firstLine(@Nullable String message) {
    return message == null ? "tracing cannot start" : message.lines().findFirst().orElse(message);
  }

  /** Ends the requests first, and then exports their spans. */
  private static void stop(
      SidecarConfig config, SidecarServer server, Telemetry telemetry, Loops loops) {
    try {
      server.drain(config.get(Settings.SHUTDOWN_TIMEOUT));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.close();
    telemetry.close();
    loops.close();
  }
}
