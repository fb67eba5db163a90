package io.inferspan.samples.gateway;

import io.inferspan.Telemetry;
import io.inferspan.epp.Tokenizer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.vertx.VertxGateway;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.inferspan.samples.prefixrouting.WordTokens;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.PoolOptions;
import java.net.BindException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A running gateway, which a program can embed.
 *
 * <pre>{@code
 * LlmGateway.with(config).telemetry(telemetry).start(vertx).onSuccess(gateway -> gateway.port());
 * }</pre>
 */
public final class LlmGateway {

  private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
  private static final int CONNECTIONS_PER_ENGINE = 1_024;

  /**
   * In Vert.x, -1 picks one free port for all event loops; with 0, each event loop has its own
   * port.
   */
  private static final int SAME_FREE_PORT = -1;

  private final Vertx vertx;
  private final String deployment;
  private final int port;
  private final @Nullable MetricsServer metrics;
  private final @Nullable KvIndex index;

  private LlmGateway(
      Vertx vertx,
      String deployment,
      int port,
      @Nullable MetricsServer metrics,
      @Nullable KvIndex index) {
    this.vertx = vertx;
    this.deployment = deployment;
    this.port = port;
    this.metrics = metrics;
    this.index = index;
  }

  /** Returns a builder. */
  public static Builder with(GatewayConfig config) {
    return new Builder(config);
  }

  /**
   * Returns a failure whose message names the port; the message of the operating system does not.
   */
  static <T> Future<T> unusable(String what, int port, Throwable cause) {
    BindException failure =
        new BindException("cannot listen on " + what + " " + port + ": " + cause.getMessage());
    failure.initCause(cause);
    return Future.failedFuture(failure);
  }

  /** Returns the port that it listens on. */
  public int port() {
    return port;
  }

  /** Returns the port of the metrics; 0 if metrics are off. */
  public int metricsPort() {
    return metrics == null ? 0 : metrics.port();
  }

  /** Stops the gateway. The telemetry and Vert.x belong to the caller, and stay open. */
  public Future<Void> close() {
    return Future.join(vertx.undeploy(deployment), closed(vertx, metrics, index)).mapEmpty();
  }

  /** Closes the metrics server and the index. */
  private static Future<Void> closed(
      Vertx vertx, @Nullable MetricsServer metrics, @Nullable KvIndex index) {
    Future<Void> metricsClosed = metrics == null ? Future.succeededFuture() : metrics.close();
    return index == null
        ? metricsClosed
        : Future.join(metricsClosed, closed(vertx, index)).mapEmpty();
  }

  /** Closes the index on a worker thread, because {@code close} blocks. */
  private static Future<Void> closed(Vertx vertx, KvIndex index) {
    return vertx
        .executeBlocking(
            () -> {
              index.close();
              return true;
            })
        .mapEmpty();
  }

  /** Builder for {@link LlmGateway}. */
  public static final class Builder {

    private final GatewayConfig config;
    private @Nullable Telemetry telemetry;
    private @Nullable Scheduler scheduler;
    private @Nullable Tokenizer tokenizer;

    private Builder(GatewayConfig config) {
      this.config = config;
    }

    /**
     * Traces and counts requests. Without telemetry, the gateway forwards trace headers unchanged.
     */
    public Builder telemetry(Telemetry telemetry) {
      this.telemetry = telemetry;
      return this;
    }

    /** Replaces the configured scheduler. */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /**
     * Sets the tokenizer for scorers that need tokens. By default, words are tokens if the gateway
     * subscribes to KV events; otherwise there are no tokens.
     */
    public Builder tokenizer(Tokenizer tokenizer) {
      this.tokenizer = tokenizer;
      return this;
    }

    /** Starts the gateway. If a port is not available, closes what was started and fails. */
    public Future<LlmGateway> start(Vertx vertx) {
      if (scheduler != null && scheduler.needsTokens() && tokenizer == null) {
        throw new IllegalArgumentException(
            "a scorer of the scheduler needs a tokenizer; set one with tokenizer(…)");
      }
      MetricsServer metrics =
          config.metricsPort().isPresent() && telemetry != null ? new MetricsServer(vertx) : null;
      Fleet fleet = new Fleet(config);
      boolean subscribes = scheduler == null && !config.kvEvents().isEmpty();
      KvIndex index = subscribes ? KvIndex.follow(config, telemetry) : null;
      Scheduler usedScheduler =
          scheduler == null ? Routing.scheduler(config, index, telemetry) : scheduler;
      Tokenizer tokens = tokenizer(index);
      Routing routing = new Routing(fleet, usedScheduler);
      VertxGateway tracing = tracing(metrics);
      List<HttpServer> servers = new CopyOnWriteArrayList<>();
      Future<Integer> metricsListen =
          metrics == null
              ? Future.succeededFuture(0)
              : metrics
                  .listen(config.metricsPort().getAsInt(), config.host())
                  .map(MetricsServer::port);
      return metricsListen
          .compose(
              listening ->
                  vertx.deployVerticle(
                      () -> new Listener(config, fleet, routing, tracing, tokens, servers),
                      new DeploymentOptions().setInstances(config.eventLoops())))
          .map(id -> new LlmGateway(vertx, id, servers.get(0).actualPort(), metrics, index))
          .recover(
              cause ->
                  closed(vertx, metrics, index)
                      .transform(closed -> Future.<LlmGateway>failedFuture(cause)));
    }

    private Tokenizer tokenizer(@Nullable KvIndex index) {
      if (tokenizer != null) {
        return tokenizer;
      }
      return index == null ? (model, input) -> null : (model, input) -> WordTokens.of(input);
    }

    private @Nullable VertxGateway tracing(@Nullable MetricsServer metrics) {
      if (telemetry == null) {
        return null;
      }
      GatewayTracing.Builder tracing = GatewayTracing.builder(telemetry);
      if (metrics != null) {
        tracing.meters(metrics.registry());
        telemetry.bindTo(metrics.registry());
      }
      return new VertxGateway(tracing.build());
    }
  }

  /** The verticle of one event loop: a server, and a client whose connections stay on the loop. */
  private static final class Listener extends AbstractVerticle {
    private final GatewayConfig config;
    private final Fleet fleet;
    private final Routing routing;
    private final @Nullable VertxGateway tracing;
    private final Tokenizer tokenizer;
    private final List<HttpServer> servers;

    Listener(
        GatewayConfig config,
        Fleet fleet,
        Routing routing,
        @Nullable VertxGateway tracing,
        Tokenizer tokenizer,
        List<HttpServer> servers) {
      this.config = config;
      this.fleet = fleet;
      this.routing = routing;
      this.tracing = tracing;
      this.tokenizer = tokenizer;
      this.servers = servers;
    }

    @Override
    public void start(Promise<Void> started) {
      HttpClient client =
          vertx
              .httpClientBuilder()
              .with(new HttpClientOptions().setConnectTimeout(CONNECT_TIMEOUT_MILLIS))
              .with(new PoolOptions().setHttp1MaxSize(CONNECTIONS_PER_ENGINE))
              // Otherwise, Vert.x would log data that the engine sent.
              .withConnectHandler(connection -> connection.exceptionHandler(broken -> {}))
              .build();
      Connections connections = new Connections(vertx, config.idleTimeout().toMillis());
      HttpServer server =
          vertx.createHttpServer(
              new HttpServerOptions()
                  .setHandle100ContinueAutomatically(true)
                  // If enabled, Vert.x reports a connection only after the first complete request
                  // header.
                  .setHttp2ClearTextEnabled(false)
                  // If enabled, Netty's handlers fail with a stack trace at 128 pipelined requests.
                  .setPerFrameWebSocketCompressionSupported(false)
                  .setPerMessageWebSocketCompressionSupported(false));
      server
          .connectionHandler(connections::opened)
          .invalidRequestHandler(Refusal.NO_REQUEST::answerAndClose)
          .requestHandler(
              new GatewayHandler(
                  new GatewayHandler.Parts(
                      vertx, client, config, fleet, routing, connections, tracing, tokenizer)))
          .listen(config.port() == 0 ? SAME_FREE_PORT : config.port(), config.host())
          .onSuccess(servers::add)
          .<Void>mapEmpty()
          .recover(cause -> unusable("port", config.port(), cause))
          .onComplete(started);
    }
  }
}
