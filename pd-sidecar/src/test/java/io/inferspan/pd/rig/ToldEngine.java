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
public final class ToldEngine implements AutoCloseable {
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CompletableFuture<Answer> told = new CompletableFuture<>();
  private final HttpServer server;

  private record Answer(int status, String json) {}

  private ToldEngine(HttpServer server) {
    this.server = server;
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  public static ToldEngine start() {
    try {
      InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
      return new ToldEngine(HttpServer.create(new InetSocketAddress(loopback, 0), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      Answer answer = told.join();
      byte[] body = answer.json().getBytes(UTF_8);
      exchange.getResponseHeaders().set("content-type", "application/json");
      exchange.getResponseHeaders().set("retry-after", "3");
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Answers every request, those that wait and those that come. */
  public void answer(int status, String json) {
    told.complete(new Answer(status, json));
  }

  public String authority() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    told.cancel(true);
    server.stop(0);
    threads.shutdownNow();
  }
}
