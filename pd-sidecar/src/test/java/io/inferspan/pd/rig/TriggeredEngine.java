package io.inferspan.pd.rig;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An engine that responds to a request when the test triggers it. */
public final class TriggeredEngine implements AutoCloseable {
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CompletableFuture<Answer> response = new CompletableFuture<>();
  private final HttpServer server;

  private record Answer(int status, String json) {}

  private TriggeredEngine(HttpServer server) {
    this.server = server;
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  public static TriggeredEngine start() {
    try {
      InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
      return new TriggeredEngine(HttpServer.create(new InetSocketAddress(loopback, 0), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      Answer answer = response.join();
      byte[] body = answer.json().getBytes(UTF_8);
      exchange.getResponseHeaders().set("content-type", "application/json");
      exchange.getResponseHeaders().set("retry-after", "3");
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Answers all waiting and all later requests. */
  public void answer(int status, String json) {
    response.complete(new Answer(status, json));
  }

  public String authority() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    response.cancel(true);
    server.stop(0);
    threads.shutdownNow();
  }
}
