package io.inferspan.samples.gateway;

import io.inferspan.Telemetry;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The main program: {@code java -jar inferspan-vertx-gateway.jar --decode=host:port}. */
public final class GatewayMain {

  static final int SERVING = -1;

  private static final int WRONG_CONFIGURATION = 2;
  private static final int CANNOT_START = 1;
  private static final String SERVICE = "llm-gateway";
  private static final long STOP_SECONDS = 10;

  private GatewayMain() {}

  /** Serves until it is stopped. Exits with 2 if a setting is invalid, 1 if it cannot start. */
  public static void main(String[] arguments) {
    int status = run(List.of(arguments), System.getenv(), System.out, System.err);
    if (status != SERVING) {
      System.exit(status);
    }
  }

  static int run(
      List<String> arguments, Map<String, String> environment, PrintStream out, PrintStream err) {
    if (arguments.contains("--help")) {
      out.print(GatewayConfig.help());
      return 0;
    }
    try {
      GatewayConfig config = GatewayConfig.parse(arguments, environment);
      Telemetry telemetry =
          config.tracing() ? Telemetry.initTracing(SERVICE) : Telemetry.using(OpenTelemetry.noop());
      return serve(config, telemetry, out, err);
    } catch (IllegalArgumentException | ConfigurationException e) {
      err.println(e.getMessage());
      return WRONG_CONFIGURATION;
    }
  }

  private static int serve(
      GatewayConfig config, Telemetry telemetry, PrintStream out, PrintStream err) {
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(config.eventLoops()));
    try {
      LlmGateway gateway =
          LlmGateway.with(config)
              .telemetry(telemetry)
              .start(vertx)
              .toCompletionStage()
              .toCompletableFuture()
              .join();
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> stop(gateway, telemetry, vertx), "gateway-shutdown"));
      out.println("Listening on " + config.host() + ":" + gateway.port());
      return SERVING;
    } catch (CompletionException e) {
      Throwable cause = e.getCause();
      err.println("Cannot start the gateway: " + (cause == null ? e : cause).getMessage());
      telemetry.close();
      vertx.close();
      return CANNOT_START;
    }
  }

  /** Stops the gateway, and then exports the remaining spans. */
  private static void stop(LlmGateway gateway, Telemetry telemetry, Vertx vertx) {
    try {
      gateway
          .close()
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(STOP_SECONDS, TimeUnit.SECONDS)
          .join();
    } catch (CompletionException e) {
      // The process exits in any case.
    }
    telemetry.close();
    vertx.close();
  }
}
