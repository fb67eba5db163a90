package io.inferspan.pd;

import io.inferspan.Telemetry;
import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.allow.KubernetesApi;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.connector.PodAddresses;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.net.ServerTls;
import io.inferspan.pd.net.UpstreamTls;
import io.inferspan.pd.proxy.PdProxy;
import io.inferspan.pd.request.ProxyParts;
import io.inferspan.pd.server.HttpListener;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.upstream.Upstreams;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A running sidecar: its listeners, its connections to engines, its metrics. */
public final class SidecarServer implements AutoCloseable {
  private static final Duration CUT_TIMEOUT = Duration.ofSeconds(2);
  private static final long POLL_MILLIS = 5;

  private final SidecarConfig config;
  private final Loops loops;
  private final ProxyParts parts;
  private final @Nullable ServerTls tls;
  private final List<HttpListener> listeners = new ArrayList<>();
  private @Nullable HttpListener metricsListener;

  private SidecarServer(
      SidecarConfig config, Loops loops, Telemetry telemetry, Supplier<KubernetesApi> kubernetes) {
    this.config = config;
    this.loops = loops;
    SidecarMetrics metrics =
        config.get(Settings.METRICS_PORT) > 0
            ? SidecarMetrics.create(telemetry)
            : SidecarMetrics.unread();
    HeldBodies heldBodies = new HeldBodies(config.get(Settings.HELD_BODIES_LIMIT));
    metrics.showHeldBodies(heldBodies::bytes);
    this.parts =
        new ProxyParts(
            config,
            upstreams("prefiller", metrics.connections(Stage.PREFILL)),
            upstreams("decoder", metrics.connections(Stage.DECODE)),
            upstreams("encoder", metrics.connections(Stage.ENCODE)),
            new Upstreams(loops, settings(null, new ConnectionMeters())),
            AllowList.of(config, loops.vertx(), kubernetes),
            new PdTracing(
                telemetry, config.kvConnector().name(), config.get(Settings.EC_CONNECTOR)),
            metrics,
            heldBodies,
            loops.workers());
    this.tls = tls(config);
  }

  /**
   * Starts a sidecar.
   *
   * @throws IOException if a port is in use
   * @throws IllegalArgumentException if the configuration cannot be applied
   */
  public static SidecarServer start(SidecarConfig config, Loops loops, Telemetry telemetry)
      throws IOException {
    return start(config, loops, telemetry, KubernetesApi::inCluster);
  }

  /** Starts a sidecar that uses this API server if its configuration names an InferencePool. */
  static SidecarServer start(
      SidecarConfig config, Loops loops, Telemetry telemetry, Supplier<KubernetesApi> kubernetes)
      throws IOException {
    SidecarServer server = new SidecarServer(config, loops, telemetry, kubernetes);
    try {
      server.listen();
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Starts the event loops that a configuration selects.
   *
   * @throws IllegalArgumentException if their transport is not available
   */
  public static Loops loops(SidecarConfig config) {
    return Loops.start(config.get(Settings.TRANSPORT), config.get(Settings.EVENT_LOOPS));
  }

  private Upstreams upstreams(String stage, ConnectionMeters events) {
    UpstreamTls upstreamTls = null;
    if (config.tls().contains(stage)) {
      upstreamTls =
          config.skipVerify().contains(stage)
              ? UpstreamTls.skippingVerification()
              : UpstreamTls.verifying(config.path(Settings.TLS_CA_FILE));
    }
    return new Upstreams(loops, settings(upstreamTls, events));
  }

  private Upstreams.Settings settings(@Nullable UpstreamTls upstreamTls, ConnectionMeters events) {
    return new Upstreams.Settings(
        upstreamTls,
        config.get(Settings.MAX_IDLE_CONNS_PER_HOST),
        Upstreams.IDLE_LIMIT,
        headerBytes(),
        events);
  }

  private int headerBytes() {
    return Math.toIntExact(config.get(Settings.MAX_HEADER_BYTES));
  }

  private static @Nullable ServerTls tls(SidecarConfig config) {
    if (!config.get(Settings.SECURE_PROXY)) {
      return null;
    }
    Path certificates = config.path(Settings.CERT_PATH);
    return certificates == null ? ServerTls.selfSigned() : ServerTls.from(certificates);
  }

  private void listen() throws IOException {
    PdProxy proxy = new PdProxy(parts, Connector.of(config, podAddresses()));
    for (int rank = 0; rank < config.get(Settings.DATA_PARALLEL_SIZE); rank++) {
      listeners.add(
          HttpListener.listen(
              loops,
              config.get(Settings.PORT) + rank,
              new HttpListener.Settings(
                  proxy::handle, tls == null ? null : tls::current, headerBytes(), rank)));
    }
    int metricsPort = config.get(Settings.METRICS_PORT);
    if (metricsPort > 0) {
      metricsListener = MetricsServer.start(loops, parts.metrics(), metricsPort);
    }
  }

  private PodAddresses podAddresses() {
    Duration timeout = Duration.ofSeconds(config.get(Settings.MORIIO_DNS_RESOLVE_TIMEOUT));
    PodAddresses pods =
        PodAddresses.of(config, name -> loops.address(name, timeout), parts.metrics().registry());
    // Does not block for long: each lookup has a timeout. Failures are logged.
    pods.known().otherwiseEmpty().toCompletionStage().toCompletableFuture().join();
    return pods;
  }

  /** Returns the port of the first listener. */
  public int port() {
    return listeners.getFirst().port();
  }

  /** Returns a description of the listeners in one line. */
  public String describe() {
    String scheme = config.get(Settings.SECURE_PROXY) ? "https" : "http";
    StringJoiner line = new StringJoiner(", ", "listening on ", "");
    for (int rank = 0; rank < listeners.size(); rank++) {
      int decoder = config.get(Settings.MODEL_SERVER_PORT) + rank;
      line.add(scheme + " :" + listeners.get(rank).port() + " -> localhost:" + decoder);
    }
    if (metricsListener != null) {
      line.add("metrics on http :" + metricsListener.port());
    }
    return line + " (" + config.kvConnector().name() + ", " + loops.transportName() + ')';
  }

  public SidecarMetrics metrics() {
    return parts.metrics();
  }

  /** Stops accepting connections and waits for requests to end, for at most {@code bound}. */
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

  public int openConnections() {
    return listeners.stream().mapToInt(HttpListener::connections).sum();
  }

  /** Stops at once: aborts requests and ends their spans. */
  @Override
  public void close() {
    listeners.forEach(HttpListener::close);
    try {
      awaitNoConnections(CUT_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (metricsListener != null) {
      metricsListener.close();
    }
    parts.close();
    if (tls != null) {
      tls.close();
    }
  }
}
