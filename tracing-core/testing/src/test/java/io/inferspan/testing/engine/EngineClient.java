package io.inferspan.testing.engine;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Calls an engine in two ways: with an HTTP client, and with a bare socket that shows every byte.
 */
final class EngineClient {
  static final Duration LIMIT = Duration.ofSeconds(10);
  static final String CHAT = "/v1/chat/completions";

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();

  private EngineClient() {}

  static HttpResponse<String> post(FakeEngine engine, String path, String body, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(engine.uri(path))
            .timeout(LIMIT)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }

  static HttpResponse<String> send(FakeEngine engine, String method, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(engine.uri(path))
            .timeout(LIMIT)
            .method(method, BodyPublishers.noBody())
            .build();
    return CLIENT.send(request, BodyHandlers.ofString());
  }

  static JsonTree json(FakeEngine engine, String path, String body) throws Exception {
    HttpResponse<String> response = post(engine, path, body);
    if (response.statusCode() != 200) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
    return JsonTree.of(response.body());
  }

  static List<SseEvent> stream(FakeEngine engine, String path, String body) throws Exception {
    HttpResponse<String> response = post(engine, path, body);
    String type = response.headers().firstValue("content-type").orElse("none");
    if (response.statusCode() != 200 || !type.startsWith("text/event-stream")) {
      throw new AssertionError(response.statusCode() + " " + type + " " + response.body());
    }
    return SseEvent.parse(response.body());
  }

  /** Opens a socket and sends one request on it. */
  static Socket open(FakeEngine engine, String path, String body) throws IOException {
    Socket socket = new Socket(engine.host(), engine.port());
    socket.setSoTimeout((int) LIMIT.toMillis());
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST %s HTTP/1.1\r\nHost: engine\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, bytes.length);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(bytes);
    return socket;
  }

  /** Reads until the engine closes the connection, and returns all bytes as text. */
  static String readToEnd(Socket socket) throws IOException {
    try (socket) {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  /** Reads until a text has been received. */
  static String readUntil(Socket socket, String text) throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder read = new StringBuilder();
    while (read.indexOf(text) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new AssertionError("the connection ended before '" + text + "': " + read);
      }
      read.append((char) next);
    }
    return read.toString();
  }
}
