package io.inferspan.samples.gateway;

import io.inferspan.Telemetry;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.inferspan.testing.engine.FakeEngine;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A gateway on free ports, for one test, and a client of it. */
final class RunningGateway implements AutoCloseable {

  static final String CHAT = "/v1/chat/completions";

  private final Vertx vertx = Vertx.vertx();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final LlmGateway gateway;

  private RunningGateway(GatewayConfig config, UnaryOperator<LlmGateway.Builder> setting) {
    gateway = await(setting.apply(LlmGateway.with(config)).start(vertx));
  }

  /** Starts a gateway for these engines; adds {@code --port=0} and similar arguments. */
  static RunningGateway start(
      @Nullable Telemetry telemetry, List<FakeEngine> decoders, String... flags) {
    String decode = decoders.stream().map(FakeEngine::authority).collect(Collectors.joining(","));
    return start(
        builder -> telemetry == null ? builder : builder.telemetry(telemetry),
        Stream.concat(Stream.of("--decode=" + decode), Stream.of(flags)).toArray(String[]::new));
  }

  static RunningGateway start(UnaryOperator<LlmGateway.Builder> setting, String... flags) {
    List<String> arguments =
        new ArrayList<>(
            List.of("--host=127.0.0.1", "--port=0", "--metrics-port=none", "--event-loops=2"));
    arguments.addAll(List.of(flags));
    return new RunningGateway(GatewayConfig.parse(arguments, Map.of()), setting);
  }

  int port() {
    return gateway.port();
  }

  String url() {
    return "http://127.0.0.1:" + port();
  }

  HttpResponse<String> chat(String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url() + CHAT))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url() + path));
    return send((headers.length > 0 ? request.headers(headers) : request).build());
  }

  /** Scrapes in OpenMetrics, the only format with exemplars. */
  String metrics() throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + gateway.metricsPort() + "/metrics");
    return send(HttpRequest.newBuilder(uri)
            .header("accept", "application/openmetrics-text; version=1.0.0")
            .build())
        .body();
  }

  private HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }

  @Override
  public void close() {
    client.close();
    await(gateway.close());
    await(vertx.close());
  }
}
