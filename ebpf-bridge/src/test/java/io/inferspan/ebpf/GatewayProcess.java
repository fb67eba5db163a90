package io.inferspan.ebpf;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A gateway as users write them: nothing in it knows of the bridge, which joins because its jar is
 * there. Answers with the traceparent that it sent on.
 */
final class GatewayProcess {

  private static final int CONNECTIONS = 8;

  private final Telemetry telemetry;
  private final URI upstream;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private GatewayProcess(Telemetry telemetry, URI upstream) {
    this.telemetry = telemetry;
    this.upstream = upstream;
  }

  public static void main(String[] arguments) throws IOException {
    Telemetry telemetry = Telemetry.initTracing();
    GatewayProcess gateway = new GatewayProcess(telemetry, URI.create(arguments[0]));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS);
    server.setExecutor(threads);
    server.createContext("/", gateway::serve);
    server.start();
    System.out.println(server.getAddress().getPort());
    System.in.read();
    server.stop(0);
    threads.shutdown();
    telemetry.close();
    System.out.println("closed");
    System.exit(0);
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      String sent = forward(exchange.getRequestURI().getPath());
      byte[] body = sent.getBytes(StandardCharsets.US_ASCII);
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private String forward(String path) {
    OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    try (span) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(upstream.resolve(path)).timeout(Duration.ofSeconds(30));
      StringBuilder traceparent = new StringBuilder();
      telemetry.inject(
          span,
          request,
          (carrier, key, value) -> {
            request.header(key, value);
            if (key.equals("traceparent")) {
              traceparent.append(value);
            }
          });
      client.send(request.GET().build(), BodyHandlers.discarding());
      return traceparent.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
