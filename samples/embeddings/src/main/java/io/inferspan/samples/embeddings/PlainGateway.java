package io.inferspan.samples.embeddings;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A gateway on the JDK's HTTP server and client: {@code PlainGateway engine:8000 8080}.
 *
 * <p>It also runs with the OpenTelemetry Java agent; the spans of both are then in one trace.
 */
public final class PlainGateway {

  private static final int MAX_BODY_BYTES = 16 << 20;

  /** Headers that are not forwarded: hop-by-hop headers, and headers that the HTTP client sets. */
  private static final Set<String> NOT_FORWARDED =
      Set.of(
          "connection",
          "content-length",
          "expect",
          "host",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private static final TextMapSetter<HttpRequest.Builder> TRACE_HEADERS =
      (call, name, value) -> Objects.requireNonNull(call).setHeader(name, value);

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final GatewayTracing tracing;
  private final Collection<String> traceHeaders;
  private final URI engine;

  private PlainGateway(Telemetry telemetry, URI engine) {
    this.tracing = GatewayTracing.create(telemetry);
    this.traceHeaders = telemetry.openTelemetry().getPropagators().getTextMapPropagator().fields();
    this.engine = engine;
  }

  /** Serves until it is stopped. */
  public static void main(String[] arguments) throws IOException {
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder().serviceName("plain-gateway").closeOnShutdown().build());
    PlainGateway gateway = new PlainGateway(telemetry, URI.create("http://" + arguments[0]));

    // Otherwise, Nagle's algorithm delays a token until the client acknowledges the previous one.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(arguments[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", gateway::serve);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }

  private void serve(HttpExchange exchange) throws IOException {
    // With the Java agent, this context has the agent's server span. Without the agent, it has no
    // span, and begin() reads the trace headers.
    Context parent = Context.current();
    GatewayRequest request = tracing.begin(new Arrived(exchange), parent);
    try (Scope current = request.context().makeCurrent()) {
      relay(exchange, request, parent);
      request.end();
    } catch (IOException e) {
      // No effect if the request has already failed because of the engine.
      request.clientGone();
      throw e;
    } catch (RuntimeException e) {
      request.fail(e);
      throw e;
    }
  }

  private void relay(HttpExchange exchange, GatewayRequest request, Context parent)
      throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
    if (body.length > MAX_BODY_BYTES) {
      refuse(exchange, request, 413);
      return;
    }
    request.requestBody(ByteBuffer.wrap(body));
    UpstreamAttempt attempt = request.attempt(engine.getHost(), engine.getPort());
    HttpResponse<InputStream> response;
    try {
      HttpRequest.Builder call = call(exchange, body);
      if (!Span.fromContext(parent).getSpanContext().isValid()) {
        attempt.inject(call, TRACE_HEADERS);
      } // otherwise, the agent writes the headers of its client span
      response = send(call.build());
    } catch (IOException e) {
      attempt.fail(e);
      refuse(exchange, request, 502);
      return;
    }
    // Closing the body early closes the connection, so that the engine stops if the client
    // disconnects.
    try (InputStream in = response.body()) {
      forwardHead(exchange, response, attempt);
      request.status(response.statusCode());
      OutputStream out = exchange.getResponseBody();
      byte[] buffer = new byte[8192];
      for (int length = read(in, buffer, request, attempt);
          length >= 0;
          length = read(in, buffer, request, attempt)) {
        attempt.see(ByteBuffer.wrap(buffer, 0, length));
        out.write(buffer, 0, length);
        out.flush();
      }
    }
    attempt.end();
    // Ends complete responses only. After an exception, the server closes the connection.
    exchange.close();
  }

  private HttpRequest.Builder call(HttpExchange exchange, byte[] body) {
    URI uri = exchange.getRequestURI();
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    HttpRequest.Builder call =
        HttpRequest.newBuilder(URI.create(engine + uri.getRawPath() + query))
            .method(
                exchange.getRequestMethod(),
                body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    Map<String, List<String>> headers = exchange.getRequestHeaders();
    Set<String> dropped = notForwarded(headers.getOrDefault("Connection", List.of()));
    dropped.addAll(traceHeaders);
    headers.forEach(
        (name, values) -> {
          if (!dropped.contains(name)) {
            values.forEach(value -> call.header(name, value));
          }
        });
    return call;
  }

  private static void forwardHead(
      HttpExchange exchange, HttpResponse<?> response, UpstreamAttempt attempt) throws IOException {
    Map<String, List<String>> headers = response.headers().map();
    Set<String> dropped = notForwarded(response.headers().allValues("connection"));
    headers.forEach(
        (name, values) -> {
          if (!dropped.contains(name)) {
            exchange.getResponseHeaders().put(name, values);
          }
        });
    int status = response.statusCode();
    attempt.responseHead(
        status,
        response.headers().firstValue("content-type").orElse(null),
        response.headers().firstValue("content-encoding").orElse(null));
    boolean hasBody = status != 204 && status != 304 && !exchange.getRequestMethod().equals("HEAD");
    long length = response.headers().firstValueAsLong("content-length").orElse(-1);
    // In this API, 0 means "chunked" and -1 "no body".
    exchange.sendResponseHeaders(status, !hasBody || length == 0 ? -1 : Math.max(0, length));
  }

  private static Set<String> notForwarded(List<String> connectionHeaders) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    names.addAll(NOT_FORWARDED);
    for (String header : connectionHeaders) {
      names.addAll(List.of(header.toLowerCase(Locale.ROOT).split("\\s*,\\s*", -1)));
    }
    return names;
  }

  private static int read(
      InputStream in, byte[] buffer, GatewayRequest request, UpstreamAttempt attempt)
      throws IOException {
    try {
      return in.read(buffer);
    } catch (IOException e) {
      attempt.fail(e);
      request.fail(e);
      throw e;
    }
  }

  private static void refuse(HttpExchange exchange, GatewayRequest request, int status)
      throws IOException {
    request.status(status);
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private HttpResponse<InputStream> send(HttpRequest call) throws IOException {
    try {
      return client.send(call, BodyHandlers.ofInputStream());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the engine");
    }
  }

  /** The properties of a request that the tracing library reads. */
  private record Arrived(HttpExchange exchange) implements GatewayExchange {

    @Override
    public String method() {
      return exchange.getRequestMethod();
    }

    @Override
    public String path() {
      return exchange.getRequestURI().getPath();
    }

    @Override
    public @Nullable String header(String name) {
      return exchange.getRequestHeaders().getFirst(name);
    }

    @Override
    public Iterator<String> headers(String name) {
      return exchange.getRequestHeaders().getOrDefault(name, List.of()).iterator();
    }

    @Override
    public InetAddress peer() {
      return exchange.getRemoteAddress().getAddress();
    }
  }
}
