package io.inferspan.pd.metrics;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.tracing.TracingPolicy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.zip.GZIPOutputStream;

/**
 * The port that metrics are read from, in plain HTTP on all interfaces: {@code /metrics}, {@code
 * /health}, and nothing else.
 */
public final class MetricsServer {

  private static final Logger LOGGER = System.getLogger("io.inferspan.pd.metrics");
  private static final String METRICS = "/metrics";
  private static final String HEALTH = "/health";

  /** All IPv6 and IPv4 addresses, and the fallback for a host without IPv6. */
  private static final String ALL_INTERFACES = "::";

  private static final String ALL_IPV4_INTERFACES = "0.0.0.0";

  private final Vertx vertx;
  private final SidecarMetrics metrics;
  private final HttpServer server;

  private MetricsServer(Vertx vertx, SidecarMetrics metrics) {
    this.vertx = vertx;
    this.metrics = metrics;
    this.server =
        vertx
            .createHttpServer(new HttpServerOptions().setTracingPolicy(TracingPolicy.IGNORE))
            .requestHandler(this::answer);
  }

  /** Starts to listen; port 0 is any free port. */
  public static Future<MetricsServer> start(Vertx vertx, SidecarMetrics metrics, int port) {
    metrics.bindJvm();
    return listen(new MetricsServer(vertx, metrics), port, ALL_INTERFACES)
        .recover(_ -> listen(new MetricsServer(vertx, metrics), port, ALL_IPV4_INTERFACES));
  }

  private static Future<MetricsServer> listen(MetricsServer starting, int port, String host) {
    return starting.server.listen(port, host).map(starting);
  }

  /** The port that it listens on. */
  public int port() {
    return server.actualPort();
  }

  /** Stops. */
  public Future<Void> close() {
    return server.close();
  }

  private void answer(HttpServerRequest request) {
    HttpServerResponse response = request.response();
    String path = request.path();
    if (!METRICS.equals(path) && !HEALTH.equals(path)) {
      end(response.setStatusCode(404));
    } else if (!HttpMethod.GET.equals(request.method())
        && !HttpMethod.HEAD.equals(request.method())) {
      end(response.setStatusCode(405).putHeader("allow", "GET, HEAD"));
    } else if (HEALTH.equals(path)) {
      end(response);
    } else {
      scrape(request);
    }
  }

  /** Off the event loop: there are hundreds of lines to write. */
  private void scrape(HttpServerRequest request) {
    AcceptHeader accepted =
        AcceptHeader.of(request.getHeader("accept"), request.getHeader("accept-encoding"));
    HttpServerResponse response = request.response();
    vertx
        .executeBlocking(() -> scraped(accepted))
        .onComplete(
            scraped -> {
              if (scraped.failed()) {
                LOGGER.log(Level.DEBUG, "Metrics could not be written", scraped.cause());
                end(response.setStatusCode(500));
                return;
              }
              response.putHeader("content-type", accepted.contentType());
              response.putHeader("vary", "accept, accept-encoding");
              if (accepted.gzip()) {
                response.putHeader("content-encoding", "gzip");
              }
              end(request, scraped.result());
            });
  }

  private Buffer scraped(AcceptHeader accepted) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = accepted.gzip() ? new GZIPOutputStream(bytes) : bytes) {
      metrics.prometheus().scrape(out, accepted.contentType());
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  private static void end(HttpServerRequest request, Buffer body) {
    HttpServerResponse response = request.response();
    if (HttpMethod.HEAD.equals(request.method())) {
      end(response.putHeader("content-length", Integer.toString(body.length())));
    } else {
      // A scraper that has gone needs no answer.
      var _ = response.end(body);
    }
  }

  private static void end(HttpServerResponse response) {
    var _ = response.end();
  }
}
