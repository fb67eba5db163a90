package io.inferspan.samples.embeddings;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.response.ResponseTap;
import io.inferspan.semconv.CommonAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
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

/**
 * A gateway beside the OpenTelemetry Java agent: {@code java -javaagent:opentelemetry-javaagent.jar
 * … AgentGateway engine:8000 8080}.
 *
 * <p>The agent reads and writes the headers, and its SDK is the only one. A span of ours takes the
 * agent's current one as its parent, and is made current for the agent's next.
 */
public final class AgentGateway {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Telemetry telemetry = Telemetry.initTracing();
  private final URI engine;

  private AgentGateway(URI engine) {
    this.engine = engine;
  }

  /** Serves until it is stopped. */
  public static void main(String[] arguments) throws IOException {
    AgentGateway gateway = new AgentGateway(URI.create("http://" + arguments[0]));

    int port = Integer.parseInt(arguments[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", gateway::serve);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange;
        OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.current()).start();
        Scope current = span.context().makeCurrent()) {
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
    HttpRequest call =
        HttpRequest.newBuilder(engine.resolve(exchange.getRequestURI()))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()))
            .build();
    HttpResponse<InputStream> answer = send(call);
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
