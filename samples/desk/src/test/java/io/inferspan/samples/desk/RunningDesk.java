package io.inferspan.samples.desk;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A desk on free ports, for one test, and a client of it. */
final class RunningDesk implements AutoCloseable {

  private static final long SOON_SECONDS = 10;
  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Desk desk;

  private RunningDesk(Desk desk) {
    this.desk = desk;
  }

  static RunningDesk start(String... flags) {
    List<String> arguments =
        new ArrayList<>(List.of("--port=0", "--otlp-http-port=0", "--otlp-grpc-port=0"));
    arguments.addAll(List.of(flags));
    return new RunningDesk(
        Desk.start(DeskConfig.parse(arguments, Map.of()))
            .toCompletionStage()
            .toCompletableFuture()
            .orTimeout(SOON_SECONDS, TimeUnit.SECONDS)
            .join());
  }

  int port() {
    return desk.port();
  }

  /** Returns the endpoint for exporters over gRPC. */
  String otlpEndpoint() {
    return "http://127.0.0.1:" + desk.otlpGrpcPort();
  }

  int otlpGrpcPort() {
    return desk.otlpGrpcPort();
  }

  int otlpHttpPort() {
    return desk.otlpHttpPort();
  }

  HttpClient client() {
    return client;
  }

  /** Sends an export request over HTTP. */
  HttpResponse<byte[]> export(byte[] body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + desk.otlpHttpPort() + "/v1/traces"))
            .timeout(Duration.ofSeconds(SOON_SECONDS))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    request.headers(
        headers.length > 0 ? headers : new String[] {"content-type", "application/x-protobuf"});
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + desk.port() + path))
            .timeout(Duration.ofSeconds(SOON_SECONDS));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Queries the API until the response matches. */
  Map<String, Object> await(String path, Predicate<Map<String, Object>> wanted)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SOON_SECONDS);
    while (true) {
      HttpResponse<String> answer = get(path);
      Map<String, Object> json = object(answer.body());
      if (answer.statusCode() == 200 && wanted.test(json)) {
        return json;
      }
      if (System.nanoTime() > end) {
        throw new AssertionError(path + " answers " + answer.statusCode() + " " + answer.body());
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(String json) throws IOException {
    return (Map<String, Object>) read(json);
  }

  /** Returns a member, which must exist. */
  static Object member(Map<String, Object> json, String name) {
    Object value = json.get(name);
    if (value == null) {
      throw new AssertionError("there is no " + name + " in " + json);
    }
    return value;
  }

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> list(Map<String, Object> json, String name) {
    return (List<Map<String, Object>>) json.getOrDefault(name, List.of());
  }

  static Object read(String json) throws IOException {
    try (JsonParser in = JSON.createParser(json)) {
      in.nextToken();
      return value(in);
    }
  }

  private static Object value(JsonParser in) throws IOException {
    return switch (in.currentToken()) {
      case START_OBJECT -> {
        Map<String, Object> object = new LinkedHashMap<>();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
          in.nextToken();
          object.put(name, value(in));
        }
        yield object;
      }
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(in));
        }
        yield list;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> in.getDoubleValue();
      case VALUE_TRUE, VALUE_FALSE -> in.getBooleanValue();
      default -> in.getText();
    };
  }

  @Override
  public void close() {
    client.close();
    desk.close()
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(SOON_SECONDS, TimeUnit.SECONDS)
        .join();
  }
}
