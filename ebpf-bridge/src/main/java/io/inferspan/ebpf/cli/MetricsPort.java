package io.inferspan.ebpf.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.Telemetry;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.clock.ReferenceClock;
import io.inferspan.ebpf.linux.Clocks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves the agent's own metrics over plain HTTP on all interfaces: {@code /metrics} in Prometheus'
 * text format, {@code /health}, and {@code /clock} for agents that use it as their reference clock.
 */
final class MetricsPort implements AutoCloseable {

  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int NOT_ALLOWED = 405;
  private static final int NO_BODY = -1;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("inferspan-ebpf-metrics").factory());
  private final HttpServer server;

  private MetricsPort(HttpServer server) {
    this.server = server;
    server.setExecutor(thread);
    server.createContext("/", this::handle);
    server.start();
  }

  /** Starts to listen; port 0 selects a free port. */
  static MetricsPort open(int port) throws IOException {
    return new MetricsPort(HttpServer.create(new InetSocketAddress(port), 0));
  }

  /** Adds the metrics of {@code telemetry} and {@code bridge}. */
  void addBridge(Telemetry telemetry, EbpfBridge bridge) {
    telemetry.bindTo(registry);
    bridge.bindTo(registry);
  }

  int port() {
    return server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      String method = exchange.getRequestMethod();
      boolean metrics = path.equals("/metrics");
      boolean clock = path.equals(ReferenceClock.PATH);
      if (!metrics && !clock && !path.equals("/health")) {
        exchange.sendResponseHeaders(NOT_FOUND, NO_BODY);
      } else if (!method.equals("GET") && !method.equals("HEAD")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        exchange.sendResponseHeaders(NOT_ALLOWED, NO_BODY);
      } else if (clock) {
        String times = Clocks.realtimeNanos() + " " + Clocks.realtimeNanos();
        exchange.getResponseHeaders().set(ReferenceClock.HEADER, times);
        exchange.sendResponseHeaders(OK, NO_BODY);
      } else if (method.equals("HEAD") || !metrics) {
        exchange.sendResponseHeaders(OK, NO_BODY);
      } else {
        byte[] text = registry.scrape(TEXT).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", TEXT);
        exchange.sendResponseHeaders(OK, text.length);
        exchange.getResponseBody().write(text);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
    thread.shutdown();
  }
}
