package io.inferspan.samples.gatewaybench;

import io.inferspan.Telemetry;
import io.inferspan.samples.gateway.LlmGateway;
import io.inferspan.samples.gateway.config.Address;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The main program of a process with gateways: {@code <ours|vertx|plain> <engine port> <prefill
 * port> <port>…}.
 *
 * <p>With {@code ours}, the gateway serves three ports from the same event loop: without Inferspan,
 * with tracing, and with tracing and meters. In one process, the three share JIT-compiled code, so
 * that differences in compilation do not distort the comparison. The other libraries trace whole
 * processes, so each has its own process: {@code vertx} uses the OpenTelemetry support of Vert.x,
 * and {@code plain} is for the OpenTelemetry Java agent.
 */
public final class GatewaysUnderTest {

  /**
   * High enough that no prompt is prefilled on another engine. The gateway still decides for each
   * request whether to do so.
   */
  private static final int PREFILL_THRESHOLD_BYTES = 1_024;

  private static final int MAX_BODY_BYTES = 1 << 20;

  private final Address engine;
  private final Address prefiller;

  private GatewaysUnderTest(Address engine, Address prefiller) {
    this.engine = engine;
    this.prefiller = prefiller;
  }

  /** Serves until it is ended. */
  public static void main(String[] arguments) {
    GatewaysUnderTest gateways =
        new GatewaysUnderTest(address(arguments[1]), address(arguments[2]));
    int port = Integer.parseInt(arguments[3]);
    switch (arguments[0]) {
      case "ours" ->
          gateways.ours(port, Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
      case "vertx" -> gateways.vertxOpenTelemetry(port);
      default -> gateways.start(vertx(null), port, null, OptionalInt.empty());
    }
  }

  private static Address address(String port) {
    return new Address("127.0.0.1", Integer.parseInt(port));
  }

  private static Vertx vertx(@Nullable OpenTelemetry traced) {
    VertxOptions options =
        new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(1);
    return traced == null
        ? Vertx.vertx(options)
        : Vertx.builder().with(options).withTracer(new OpenTelemetryTracingFactory(traced)).build();
  }

  private void ours(int without, int traced, int counted) {
    Vertx vertx = vertx(null);
    Telemetry telemetry = Telemetry.initTracing("gateway");
    start(vertx, without, null, OptionalInt.empty());
    start(vertx, traced, telemetry, OptionalInt.empty());
    start(vertx, counted, telemetry, OptionalInt.of(0));
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  System.out.println(telemetry.spanCounts());
                  telemetry.close();
                }));
  }

  private void vertxOpenTelemetry(int port) {
    OpenTelemetry sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    start(vertx(sdk), port, null, OptionalInt.empty());
  }

  private void start(Vertx vertx, int port, @Nullable Telemetry telemetry, OptionalInt metrics) {
    GatewayConfig config =
        new GatewayConfig(
            "127.0.0.1",
            port,
            metrics,
            List.of(engine),
            List.of(prefiller),
            List.of(),
            PREFILL_THRESHOLD_BYTES,
            1,
            Duration.ofMinutes(1),
            Duration.ofMinutes(1),
            MAX_BODY_BYTES,
            1,
            telemetry != null);
    LlmGateway.Builder gateway = LlmGateway.with(config);
    if (telemetry != null) {
      gateway.telemetry(telemetry);
    }
    gateway.start(vertx).toCompletionStage().toCompletableFuture().join();
  }
}
