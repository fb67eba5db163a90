package io.inferspan.samples.gateway;

import io.inferspan.gateway.metrics.CurrentSpanExemplars;
import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;

/** Serves {@code /metrics} and {@code /health} on a separate port. */
final class MetricsServer {

  private static final String OPEN_METRICS = "application/openmetrics-text";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(
          PrometheusConfig.DEFAULT,
          new PrometheusRegistry(),
          Clock.SYSTEM,
          new CurrentSpanExemplars());
  private final Vertx vertx;
  private final HttpServer server;

  MetricsServer(Vertx vertx) {
    this.vertx = vertx;
    this.server = vertx.createHttpServer().requestHandler(this::answer);
  }

  PrometheusMeterRegistry registry() {
    return registry;
  }

  Future<MetricsServer> listen(int port, String host) {
    return server
        .listen(port, host)
        .map(this)
        .recover(cause -> LlmGateway.unusable("metrics port", port, cause));
  }

  int port() {
    return server.actualPort();
  }

  Future<Void> close() {
    return server.close();
  }

  private void answer(HttpServerRequest request) {
    String path = request.path();
    if ("/metrics".equals(path)) {
      scrape(request);
    } else {
      request.response().setStatusCode("/health".equals(path) ? 200 : 404).end();
    }
  }

  /** Writes the metrics on a worker thread, because formatting hundreds of lines takes long. */
  private void scrape(HttpServerRequest request) {
    String accept = request.getHeader("accept");
    String type =
        accept != null && accept.contains(OPEN_METRICS)
            ? OPEN_METRICS + "; version=1.0.0; charset=utf-8"
            : "text/plain; version=0.0.4; charset=utf-8";
    vertx
        .executeBlocking(() -> registry.scrape(type))
        .onSuccess(text -> request.response().putHeader("content-type", type).end(text))
        .onFailure(cause -> request.response().setStatusCode(500).end());
  }
}
