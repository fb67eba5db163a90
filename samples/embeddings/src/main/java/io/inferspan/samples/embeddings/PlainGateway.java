package io.inferspan.samples.embeddings;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.response.ResponseTap;
import io.inferspan.semconv.CommonAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.util.concurrent.Executors;

/** A gateway on nothing but the JDK: {@code PlainGateway engine:8000 8080}. */
public final class PlainGateway {

  private static final TextMapGetter<Headers> ARRIVING =
      (headers, name) -> headers == null ? null : headers.getFirst(name);

  private static final TextMapSetter<HttpRequest.Builder> LEAVING =
      (call, name, value) -> {
        if (call != null) {
          call.setHeader(name, value);
        }
      };

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Telemetry telemetry;
  private final URI engine;

  private PlainGateway(Telemetry telemetry, URI engine) {
    this.telemetry = telemetry;
    this.engine = engine;
  }

  /** Serves until it is stopped. */
  public static void main(String[] arguments) throws IOException {
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder().serviceName("plain-gateway").closeOnShutdown().build());
    PlainGateway gateway = new PlainGateway(telemetry, URI.create("http://" + arguments[0]));

    HttpServer server = HttpServer.create(new InetSocketAddress(port(arguments)), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", gateway::serve);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }

  private static int port(String[] arguments) {
    return Integer.parseInt(arguments[1]);
  }

  private void serve(HttpExchange exchange) throws IOException {
    Context caller = telemetry.extract(exchange.getRequestHeaders(), ARRIVING);
    try (exchange;
        OperationSpan span = telemetry.span(GatewaySpans.REQUEST, caller).start()) {
      try {
        relay(exchange, span);
      } catch (IOException e) {
        span.fail(e);
        exchange.sendResponseHeaders(502, -1);
      }
    }
  }

  private void relay(HttpExchange exchange, OperationSpan span) throws IOException {
    long arrivedNanos = System.nanoTime();
    HttpRequest.Builder call =
        HttpRequest.newBuilder(engine.resolve(exchange.getRequestURI()))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
    telemetry.inject(span, call, LEAVING);

    HttpResponse<InputStream> answer = send(call.build());
    String type = answer.headers().firstValue("content-type").orElse("application/json");
    span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, answer.statusCode());
    exchange.getResponseHeaders().set("content-type", type);
    exchange.sendResponseHeaders(answer.statusCode(), 0);

    ResponseTap tap = ResponseTap.forContentType(type);
    try (InputStream in = answer.body();
        OutputStream out = exchange.getResponseBody()) {
      byte[] piece = new byte[8192];
      for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
        tap.see(ByteBuffer.wrap(piece, 0, length), System.nanoTime());
        out.write(piece, 0, length);
        out.flush();
      }
    } finally {
      tap.end(System.nanoTime());
      tap.describe(span, arrivedNanos);
    }
  }

  private HttpResponse<InputStream> send(HttpRequest call) throws IOException {
    try {
      return client.send(call, BodyHandlers.ofInputStream());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stopped while waiting for the engine");
    }
  }
}
