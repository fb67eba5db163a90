package io.inferspan.pd;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Sends a few thousand requests through a sidecar in the same process and exits, so that a JVM with
 * {@code -XX:AOTCacheOutput} records what to load and compile at the next start.
 */
public final class TrainingRun {
  private static final int ROUNDS = 150;
  private static final int AT_ONCE = 8;
  private static final long TIMEOUT_SECONDS = 120;
  private static final String PREFILLED =
      "{\"kv_transfer_params\":{\"remote_block_ids\":[1]},\"usage\":{}}";
  private static final String EVENTS =
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".repeat(8) + "data: [DONE]\n\n";
  private static final String CHAT =
      "{\"model\":\"m\",\"max_tokens\":9,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\""
          + "hello ".repeat(300)
          + "\"}]}";

  private final HttpClient client;
  private final int sidecar;
  private final int engine;

  private TrainingRun(HttpClient client, int sidecar, int engine) {
    this.client = client;
    this.sidecar = sidecar;
    this.engine = engine;
  }

  public static void main(String[] args) {
    int status = 1;
    try {
      run();
      status = 0;
    } catch (Exception e) {
      System.err.println("The training run failed: " + e);
    } finally {
      // Event loops of a failed run would keep the process alive.
      System.exit(status);
    }
  }

  private static void run() throws Exception {
    int engine = freePort();
    System.setProperty("otel.exporter.otlp.protocol", "http/protobuf");
    System.setProperty("otel.exporter.otlp.endpoint", "http://localhost:" + engine);
    int sidecar = freePort();
    List<String> flags =
        List.of(
            "--port=" + sidecar,
            "--metrics-port=" + freePort(),
            "--secure-proxy=false",
            "--tracing",
            "--model-server-port=" + engine);
    if (PdSidecar.run(flags, Map.of(), System.out, System.err) != PdSidecar.SERVING) {
      throw new IllegalStateException("the sidecar does not serve");
    }
    Vertx vertx = Vertx.vertx();
    await(vertx.createHttpServer().requestHandler(TrainingRun::answer).listen(engine));
    new TrainingRun(vertx.createHttpClient(), sidecar, engine).train();
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }

  private void train() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Buffer>> answers = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        answers.add(ask(HttpMethod.GET, "/v1/models", "", false));
        answers.add(ask(HttpMethod.POST, "/v1/chat/completions", CHAT.formatted("true"), true));
        answers.add(ask(HttpMethod.POST, "/v1/chat/completions", CHAT.formatted("false"), true));
        answers.add(ask(HttpMethod.POST, "/v1/chat/completions", CHAT.formatted("true"), false));
      }
      await(Future.join(answers));
    }
  }

  private Future<Buffer> ask(HttpMethod method, String path, String body, boolean disaggregated) {
    RequestOptions options =
        new RequestOptions().setMethod(method).setHost("localhost").setPort(sidecar).setURI(path);
    if (disaggregated) {
      options.putHeader("x-prefiller-host-port", "localhost:" + engine);
    }
    return client
        .request(options)
        .compose(request -> send(request, body))
        .compose(response -> response.body());
  }

  private static Future<HttpClientResponse> send(HttpClientRequest request, String body) {
    return body.isEmpty() ? request.send() : request.send(body);
  }

  private static void answer(HttpServerRequest request) {
    request
        .body()
        .onSuccess(
            body -> {
              String text = body.toString();
              if (text.contains("do_remote_decode\":true")) {
                request.response().end(PREFILLED);
              } else if (text.contains("\"stream\":true")) {
                request.response().putHeader("content-type", "text/event-stream").end(EVENTS);
              } else {
                request.response().putHeader("content-type", "application/json").end("{}");
              }
            });
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }
}
