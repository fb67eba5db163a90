package io.inferspan.samples.quickstart;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.context.propagation.TextMapGetter;
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
import java.net.http.HttpResponse.BodyHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The HTTP under gateway and proxy: a server with one virtual thread a request, and a client. */
final class SmallServer implements AutoCloseable {

  static final String CHAT_PATH = "/v1/chat/completions";

  /** Reads trace headers of a request that comes in. */
  static final TextMapGetter<Headers> INCOMING =
      (headers, name) -> headers == null ? null : headers.getFirst(name);

  /** Writes trace headers of a request that goes out. */
  static final TextMapSetter<HttpRequest.Builder> OUTGOING =
      (call, name, value) -> {
        if (call != null) {
          call.setHeader(name, value);
        }
      };

  static {
    // Without it the kernel holds small writes back, and tokens come in lumps of 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private static final int MAX_BODY_BYTES = 1 << 20;
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** Listens on a free loopback port when this returns. */
  SmallServer(HttpHandler handler) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(CHAT_PATH, exchange -> handle(exchange, handler));
    server.start();
  }

  /**
   * The answer ends when the handler returns: what it traced has ended before the client goes on.
   */
  private static void handle(HttpExchange exchange, HttpHandler handler) throws IOException {
    try {
      handler.handle(exchange);
    } finally {
      exchange.close();
    }
  }

  /** "host:port", the form that routing headers carry. */
  String authority() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  /** The body of a request; one that is too long is cut and then is no JSON. */
  static String body(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES);
    return new String(body, StandardCharsets.UTF_8);
  }

  /** A chat request to {@code authority}, about to be sent. */
  static HttpRequest.Builder chat(String authority, String body) {
    return HttpRequest.newBuilder(URI.create("http://" + authority + CHAT_PATH))
        .timeout(Duration.ofSeconds(10))
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofString(body));
  }

  static <T> HttpResponse<T> send(HttpRequest.Builder call, BodyHandler<T> as) throws IOException {
    try {
      return CLIENT.send(call.build(), as);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for an answer");
    }
  }

  /** Passes an answer on as it comes, piece by piece, without looking into it. */
  static void relay(HttpResponse<InputStream> answer, HttpExchange exchange) throws IOException {
    begin(exchange, answer.statusCode(), answer);
    OutputStream out = exchange.getResponseBody();
    try (InputStream in = answer.body()) {
      byte[] piece = new byte[8192];
      for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
        out.write(piece, 0, length);
        out.flush();
      }
    }
  }

  /** Passes on an answer that is there as a whole. */
  static void relayWhole(HttpResponse<String> answer, HttpExchange exchange) throws IOException {
    begin(exchange, answer.statusCode(), answer);
    exchange.getResponseBody().write(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  private static void begin(HttpExchange exchange, int status, HttpResponse<?> answer)
      throws IOException {
    String type = answer.headers().firstValue("content-type").orElse("application/json");
    exchange.getResponseHeaders().set("content-type", type);
    exchange.sendResponseHeaders(status, 0);
  }

  /** Refuses a request in one sentence. */
  static void refuse(HttpExchange exchange, int status, String sentence) throws IOException {
    exchange.getResponseHeaders().set("content-type", "text/plain");
    exchange.sendResponseHeaders(status, 0);
    exchange.getResponseBody().write(sentence.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
  }
}
