package io.inferspan.pd;

import io.inferspan.Telemetry;
import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.allow.KubernetesApi;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.config.SidecarConfig.Listening;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.connector.moriio.PodAddresses;
import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.metrics.ConnectionMeters;
import io.inferspan.pd.metrics.MetricsServer;
import io.inferspan.pd.metrics.SidecarMetrics;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.proxy.PdProxy;
import io.inferspan.pd.request.Decoders;
import io.inferspan.pd.request.Engines;
import io.inferspan.pd.request.ProxyParts;
import io.inferspan.pd.server.HttpListener;
import io.inferspan.pd.server.ListenerSettings;
import io.inferspan.pd.tls.ServerTls;
import io.inferspan.pd.tls.UpstreamTls;
import io.inferspan.pd.tracing.PdTracing;
import io.inferspan.pd.upstream.Upstreams;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A running sidecar: its listeners, its connections to engines, its metrics. */
public final class SidecarServer implements AutoCloseable {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CUT_TIMEOUT = Duration.ofSeconds(2);
  private static final long POLL_MILLIS = 5;

  private final SidecarConfig config;
  private final Loops loops;
  private final SidecarMetrics metrics;
  private final Engines engines;
  private final AllowList allowList;
  private final @Nullable ServerTls tls;
  private final List<HttpListener> listeners = new ArrayList<>();
  private @Nullable MetricsServer metricsServer;

  private SidecarServer(
      SidecarConfig config, Loops loops, Telemetry telemetry, Supplier<KubernetesApi> kubernetes) {
    this.config = config;
    this.loops = loops;
    this.metrics =
        config.listening().metricsPort() > 0
            ? SidecarMetrics.create(telemetry)
            : SidecarMetrics.unread();
    this.engines =
        new Engines(
            upstreams(SidecarConfig.Stage.PREFILLER, Stage.PREFILL),
            upstreams(SidecarConfig.Stage.DECODER, Stage.DECODE),
            upstreams(SidecarConfig.Stage.ENCODER, Stage.ENCODE),
            new Upstreams(loops, settings(null, new ConnectionMeters())));
    this.allowList = AllowLists.of(config.allowList(), loops.vertx(), kubernetes);
    this.tls = tls(config.listening());
  }

  /**
   * Starts a sidecar.
   *
   * @throws IOException where a port is taken
   * @throws IllegalArgumentException where the configuration cannot be followed
   */
  public static SidecarServer start(SidecarConfig config, Loops loops, Telemetry telemetry)
      throws IOException {
    return start(config, loops, telemetry, KubernetesApi::inCluster);
  }

  /** Starts a sidecar that watches its pool at this API server, if it watches one. */
  static SidecarServer start(
      SidecarConfig config, Loops loops, Telemetry telemetry, Supplier<KubernetesApi> kubernetes)
      throws IOException {
    SidecarServer server = new SidecarServer(config, loops, telemetry, kubernetes);
    try {
      server.listen(telemetry);
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Event loops as a configuration asks for them.
   *
   * @throws IllegalArgumentException where their transport does not work here
   */
  public static Loops loops(Listening listening) {
    return Loops.start(listening.transport().wireName(), listening.eventLoops());
  }

  private Upstreams upstreams(SidecarConfig.Stage stage, Stage counted) {
    UpstreamTls upstreamTls = null;
    if (config.upstream().tls().contains(stage)) {
      upstreamTls =
          config.upstream().skipVerify().contains(stage)
              ? UpstreamTls.skippingVerification()
              : UpstreamTls.verifying(config.upstream().caFile());
    }
    return new Upstreams(loops, settings(upstreamTls, metrics.connections(counted)));
  }

  private Upstreams.Settings settings(@Nullable UpstreamTls upstreamTls, ConnectionMeters events) {
    return new Upstreams.Settings(
        upstreamTls,
        config.upstream().maxIdlePerHost(),
        Upstreams.IDLE_LIMIT,
        config.limits().headerBytes(),
        events);
  }

  private static @Nullable ServerTls tls(Listening listening) {
    if (!listening.secure()) {
      return null;
    }
    return listening.certPath() == null
        ? ServerTls.selfSigned()
        : ServerTls.from(listening.certPath());
  }

  private void listen(Telemetry telemetry) throws IOException {
    Listening listening = config.listening();
    PdProxy proxy = new PdProxy(parts(telemetry), Connector.of(config, podAddresses()));
    for (int rank = 0; rank < listening.dataParallelSize(); rank++) {
      int port = listening.port() == 0 ? 0 : listening.port() + rank;
      listeners.add(
          HttpListener.listen(
              loops,
              port,
              new ListenerSettings(
                  proxy, tls == null ? null : tls::current, config.limits().headerBytes(), rank)));
    }
    if (listening.metricsPort() > 0) {
      metricsServer = startMetrics(listening.metricsPort());
    }
  }

  private MetricsServer startMetrics(int port) throws IOException {
    try {
      return MetricsServer.start(loops.vertx(), metrics, port)
          .toCompletionStage()
          .toCompletableFuture()
          .get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while opening the metrics port", e);
    } catch (Exception e) {
      throw new IOException("cannot listen on the metrics port " + port, e);
    }
  }

  private PodAddresses podAddresses() {
    Duration timeout = config.moriIo().dnsResolveTimeout();
    PodAddresses pods =
        PodAddresses.of(config.moriIo(), name -> loops.address(name, timeout), metrics.names());
    // Each look-up ends in time; those that fail have been logged.
    pods.known().otherwiseEmpty().toCompletionStage().toCompletableFuture().join();
    return pods;
  }

  private ProxyParts parts(Telemetry telemetry) {
    SidecarConfig.Connectors connectors = config.connectors();
    Decoders decoders =
        new Decoders(
            connectors.podIp(),
            config.listening().port(),
            config.upstream().modelServerPort(),
            config.listening().dataParallelSize());
    PdTracing tracing =
        new PdTracing(telemetry, connectors.kv().name(), connectors.ec().wireName());
    HeldBodies heldBodies = new HeldBodies(config.limits().heldBodyBytes());
    metrics.showHeldBodies(heldBodies::bytes);
    return new ProxyParts(
        config, engines, decoders, allowList, tracing, metrics, heldBodies, loops.workers());
  }

  /** The port of the first listener. */
  public int port() {
    return listeners.getFirst().port();
  }

  /** Returns a description of the listeners in one line. */
  public String describe() {
    Listening listening = config.listening();
    StringBuilder line = new StringBuilder("listening on ");
    for (int rank = 0; rank < listeners.size(); rank++) {
      line.append(rank == 0 ? "" : ", ")
          .append(listening.secure() ? "https" : "http")
          .append(" :")
          .append(listeners.get(rank).port())
          .append(" -> localhost:")
          .append(config.upstream().modelServerPort() + rank);
    }
    if (metricsServer != null) {
      line.append(", metrics on http :").append(metricsServer.port());
    }
    return line.append(" (")
        .append(config.connectors().kv().name())
        .append(", ")
        .append(loops.transportName())
        .append(')')
        .toString();
  }

  /** Returns the metrics. */
  public SidecarMetrics metrics() {
    return metrics;
  }

  /** Takes no more connections and lets requests end, but no longer than {@code bound}. */
  public void drain(Duration bound) throws InterruptedException {
    listeners.forEach(HttpListener::drain);
    awaitNoConnections(bound);
  }

  private void awaitNoConnections(Duration bound) throws InterruptedException {
    long deadline = System.nanoTime() + bound.toNanos();
    while (openConnections() > 0 && System.nanoTime() - deadline < 0) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Returns the number of open client connections. */
  public int openConnections() {
    return listeners.stream().mapToInt(HttpListener::connections).sum();
  }

  /** Stops at once; requests that are cut short have ended, and so have their spans. */
  @Override
  public void close() {
    listeners.forEach(HttpListener::close);
    try {
      awaitNoConnections(CUT_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (metricsServer != null) {
      metricsServer.close();
    }
    engines.close();
    allowList.close();
    if (tls != null) {
      tls.close();
    }
    metrics.close();
  }
}
