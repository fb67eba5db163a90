package io.inferspan.testing.engine;

import io.inferspan.testing.engine.EngineRequest.Arrival;
import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineRequest.Role;
import io.inferspan.testing.engine.RequestReader.Call;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Handles HTTP requests: reads and logs them, and starts a generation or returns a fixed page. */
record EngineHttp(FakeEngine engine) implements Handler<HttpServerRequest> {
  /** The size limit of a request body; larger ones are rejected with 413. */
  static final int MAX_BODY_BYTES = 64 << 20;

  private static final String JSON = "application/json";
  private static final int KV_BLOCK_TOKENS = 16;
  private static final int KV_SIDE_CHANNEL_PORT = 5600;
  private static final Set<HttpMethod> SAFE_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD);
  private static final Map<String, ApiDialect> DIALECTS =
      Map.of(
          "/v1/chat/completions", new ChatDialect(),
          "/v1/completions", new CompletionsDialect(),
          "/v1/responses", new ResponsesDialect(),
          "/v1/messages", new MessagesDialect(),
          "/inference/v1/generate", new GenerateDialect());

  @Override
  public void handle(HttpServerRequest http) {
    Arrival arrival = Arrival.now();
    Buffer body = Buffer.buffer();
    http.exceptionHandler(broken -> {});
    http.handler(chunk -> collect(http, body, chunk));
    http.endHandler(
        end -> {
          if (!http.response().ended()) {
            received(http, body.getBytes(), arrival);
          }
        });
  }

  private static void collect(HttpServerRequest http, Buffer body, Buffer chunk) {
    if (http.response().ended()) {
      return;
    }
    if (body.length() + chunk.length() > MAX_BODY_BYTES) {
      http.response().setStatusCode(413).end().onComplete(done -> http.connection().close());
      return;
    }
    body.appendBuffer(chunk);
  }

  private void received(HttpServerRequest http, byte[] body, Arrival arrival) {
    ApiDialect dialect = http.method().equals(HttpMethod.POST) ? DIALECTS.get(pathOf(http)) : null;
    Call call = dialect == null ? null : RequestReader.read(body);
    EngineRequest seen = new EngineRequest(http, body, arrival, call);
    if (dialect == null || call == null) {
      engine.log.add(List.of(seen));
      seen.end(Outcome.ANSWERED);
      answerPage(http);
      return;
    }
    // The script is read before the request becomes visible, because a test may then change it.
    Reply reply = reply(seen, call, dialect);
    engine.log.add(List.of(seen));
    new Generation(engine, http, seen, dialect, reply).start();
  }

  /** Returns the path; empty if the request target has none. */
  static String pathOf(HttpServerRequest http) {
    return Objects.requireNonNullElse(http.path(), "");
  }

  private Reply reply(EngineRequest seen, Call call, ApiDialect dialect) {
    EngineScript script = engine.nextScript(seen);
    String clientId = seen.header("x-request-id");
    String unique = clientId == null ? UUID.randomUUID().toString().replace("-", "") : clientId;
    String id = dialect.idPrefix() + unique;
    long createdSeconds = System.currentTimeMillis() / 1000;
    return new Reply(call, script, id, kvTransferParams(call, script), createdSeconds);
  }

  /** Returns what vLLM's NIXL connector passes to the decoder: the engine and its KV blocks. */
  private @Nullable String kvTransferParams(Call call, EngineScript script) {
    if (script.kvTransferParams != null || call.role() != Role.PREFILL) {
      return script.kvTransferParams;
    }
    StringBuilder blocks = new StringBuilder("1");
    for (int i = 2; i <= (call.promptTokens() + KV_BLOCK_TOKENS - 1) / KV_BLOCK_TOKENS; i++) {
      blocks.append(',').append(i);
    }
    return """
        {"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":[%s],\
        "remote_engine_id":"%s","remote_host":"%s","remote_port":%s,"tp_size":1}"""
        .formatted(blocks, engine.engineId(), engine.host(), KV_SIDE_CHANNEL_PORT);
  }

  private void answerPage(HttpServerRequest http) {
    HttpServerResponse response = http.response();
    response.exceptionHandler(broken -> {});
    boolean reading = SAFE_METHODS.contains(http.method());
    switch (pathOf(http)) {
      case "/health" -> page(response, reading, null, "");
      case "/version" -> page(response, reading, JSON, "{\"version\":\"0.0.0+fake\"}");
      case "/v1/models" -> page(response, reading, JSON, models());
      case "/metrics" -> page(response, reading, "text/plain; version=0.0.4", metrics());
      // Mooncake's bootstrap server, which vLLM runs on a separate port.
      case "/query" ->
          page(response, reading, JSON, "{\"0\":{\"engine_id\":\"" + engine.engineId() + "\"}}");
      default -> notFound(http);
    }
  }

  private static void page(
      HttpServerResponse response, boolean reading, @Nullable String type, String body) {
    if (!reading) {
      detail(response, 405, "Method Not Allowed");
      return;
    }
    if (type != null) {
      response.putHeader("content-type", type);
    }
    response.end(body);
  }

  private static void notFound(HttpServerRequest http) {
    if (DIALECTS.containsKey(pathOf(http))) {
      detail(http.response(), 405, "Method Not Allowed");
    } else {
      detail(http.response(), 404, "Not Found");
    }
  }

  private static void detail(HttpServerResponse response, int status, String text) {
    response.setStatusCode(status).putHeader("content-type", JSON);
    response.end("{\"detail\":\"" + text + "\"}");
  }

  private String models() {
    return """
        {"object":"list","data":[{"id":%s,"object":"model","created":0,"owned_by":"vllm"}]}"""
        .formatted(ApiDialect.quoted(modelName()));
  }

  private String metrics() {
    String labels = "{engine=\"0\",model_name=\"" + modelName() + "\"} ";
    return gauge("vllm:num_requests_running", labels, engine.load.running)
        + gauge("vllm:num_requests_waiting", labels, engine.load.waiting)
        + gauge("vllm:kv_cache_usage_perc", labels, 0);
  }

  private static String gauge(String name, String labels, double value) {
    return "# TYPE " + name + " gauge\n" + name + labels + value + "\n";
  }

  private String modelName() {
    String name = engine.script().model;
    return name == null ? Reply.DEFAULT_MODEL : name;
  }
}
