package io.inferspan.pd;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.server.HttpListener;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** Serves metrics over plain HTTP on all interfaces: {@code /metrics} and {@code /health}. */
final class MetricsServer {
  private static final Logger LOGGER = System.getLogger("io.inferspan.pd.metrics");
  private static final String METRICS = "/metrics";
  private static final String OPEN_METRICS = "application/openmetrics-text";
  private static final String TEXT = "text/plain";
  private static final int HEADER_BYTES = 64 * 1024;

  private final Loops loops;
  private final SidecarMetrics metrics;

  private MetricsServer(Loops loops, SidecarMetrics metrics) {
    this.loops = loops;
    this.metrics = metrics;
  }

  /**
   * Starts to listen.
   *
   * @param port zero to select a free one
   * @throws IOException if the port is in use
   */
  static HttpListener start(Loops loops, SidecarMetrics metrics, int port) throws IOException {
    metrics.bindJvm();
    return HttpListener.listen(
        loops,
        port,
        new HttpListener.Settings(
            new MetricsServer(loops, metrics)::handle, null, HEADER_BYTES, 0));
  }

  private void handle(ClientExchange exchange) {
    HttpRequest request = exchange.request();
    HttpHeaders headers = new DefaultHttpHeaders();
    String path = new QueryStringDecoder(request.uri()).rawPath();
    HttpResponseStatus status = HttpResponseStatus.OK;
    if (!path.equals(METRICS) && !path.equals("/health")) {
      status = HttpResponseStatus.NOT_FOUND;
    } else if (!HttpMethod.GET.equals(request.method()) && !isHead(request)) {
      status = HttpResponseStatus.METHOD_NOT_ALLOWED;
      headers.set(HttpHeaderNames.ALLOW, "GET, HEAD");
    } else if (path.equals(METRICS)) {
      // Not on the event loop, because formatting hundreds of lines takes long.
      loops.workers().execute(() -> scrape(exchange, headers));
      return;
    }
    exchange.respond(status, headers, Unpooled.EMPTY_BUFFER);
  }

  private static boolean isHead(HttpRequest request) {
    return HttpMethod.HEAD.equals(request.method());
  }

  private void scrape(ClientExchange exchange, HttpHeaders headers) {
    HttpHeaders asked = exchange.request().headers();
    String accept = asked.get(HttpHeaderNames.ACCEPT);
    double openMetrics = quality(accept, OPEN_METRICS);
    // Only OpenMetrics has exemplars.
    boolean preferred = openMetrics > 0 && openMetrics >= quality(accept, TEXT);
    String type =
        preferred
            ? OPEN_METRICS + "; version=1.0.0; charset=utf-8"
            : TEXT + "; version=0.0.4; charset=utf-8";
    boolean gzip = quality(asked.get(HttpHeaderNames.ACCEPT_ENCODING), "gzip") > 0;
    HttpResponseStatus status = HttpResponseStatus.OK;
    ByteBuf body = Unpooled.EMPTY_BUFFER;
    try {
      body = Unpooled.wrappedBuffer(scraped(type, gzip));
      headers.set(HttpHeaderNames.CONTENT_TYPE, type);
      headers.set(HttpHeaderNames.VARY, "accept, accept-encoding");
      if (gzip) {
        headers.set(HttpHeaderNames.CONTENT_ENCODING, HttpHeaderValues.GZIP);
      }
      if (isHead(exchange.request())) {
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      }
    } catch (IOException | RuntimeException e) {
      LOGGER.log(Level.DEBUG, "The metrics could not be formatted", e);
      status = HttpResponseStatus.INTERNAL_SERVER_ERROR;
    }
    HttpResponseStatus result = status;
    ByteBuf content = body;
    exchange.loop().execute(() -> exchange.respond(result, headers, content));
  }

  private byte[] scraped(String type, boolean gzip) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = gzip ? new GZIPOutputStream(bytes) : bytes) {
      metrics.prometheus().scrape(out, type);
    }
    return bytes.toByteArray();
  }

  /** Returns the highest q-value of exactly this name in an Accept header; 0 if it is absent. */
  private static double quality(@Nullable String header, String name) {
    double best = 0;
    if (header != null) {
      for (String range : header.toLowerCase(Locale.ROOT).split(",", -1)) {
        String[] parts = range.split(";", -1);
        if (parts[0].strip().equals(name)) {
          best = Math.max(best, quality(parts));
        }
      }
    }
    return best;
  }

  private static double quality(String[] parts) {
    for (String part : parts) {
      if (part.strip().startsWith("q=")) {
        try {
          return Double.parseDouble(part.strip().substring(2).strip());
        } catch (NumberFormatException e) {
          return 0;
        }
      }
    }
    return 1;
  }
}
