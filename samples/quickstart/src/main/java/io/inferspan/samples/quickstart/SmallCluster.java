package io.inferspan.samples.quickstart;

import io.inferspan.Telemetry;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * All that serves a request: the gateway, a prefill pod, and two decode pods with their proxies.
 */
final class SmallCluster implements AutoCloseable {

  private static final String MODEL = "llama-3.1-8b";

  private static final EngineScript PREFILLS =
      EngineScript.builder().prefill(Duration.ofMillis(40)).build();

  /** The first token waits for the KV blocks to arrive. */
  private static final EngineScript DECODES =
      EngineScript.builder()
          .prefill(Duration.ofMillis(6))
          .betweenTokens(Duration.ofMillis(8))
          .tokens(24)
          .build();

  /** A {@code traceparent} whose last digit says: not sampled. */
  private static final String UNSAMPLED = "00-4d4a3f6f0d7c41b29f3c8e5a7b1d2c60-9a8b7c6d5e4f3a2b-00";

  private final FakeEngine prefill;
  private final List<FakeEngine> decoders;
  private final List<SmallPdProxy> proxies;
  private final SmallGateway gateway;

  SmallCluster(Tracing tracing) throws IOException {
    prefill = engine(tracing.sdk("vllm-prefill-pod"));
    OpenTelemetry decoding = tracing.sdk("vllm-decode-pod");
    decoders = List.of(engine(decoding), engine(decoding));
    Telemetry proxying = tracing.service("llm-d-pd-proxy");
    proxies =
        List.of(
            new SmallPdProxy(proxying, prefill.authority(), decoders.get(0).authority()),
            new SmallPdProxy(proxying, prefill.authority(), decoders.get(1).authority()));
    Map<String, String> proxyByPod =
        Map.of("decode-0", proxies.get(0).authority(), "decode-1", proxies.get(1).authority());
    gateway = new SmallGateway(tracing.gateway(), prefill.authority(), proxyByPod);
  }

  private static FakeEngine engine(OpenTelemetry telemetry) {
    return FakeEngine.builder().openTelemetry(telemetry).start();
  }

  /**
   * Lets a conversation begin that leaves {@code system} in a cache. Its sender wants no trace, so
   * it leaves none; and the JVM has seen all code once.
   */
  void warmUp(String system) throws IOException {
    ask(chat(system, "Hello!").setHeader("traceparent", UNSAMPLED));
    prefill.script(PREFILLS);
    decoders.forEach(engine -> engine.script(DECODES));
  }

  /** Asks the gateway as a client would, and waits for the last token. */
  void ask(String system, String question) throws IOException {
    ask(chat(system, question));
  }

  private HttpRequest.Builder chat(String system, String question) {
    JsonArray messages =
        new JsonArray()
            .add(new JsonObject().put("role", "system").put("content", system))
            .add(new JsonObject().put("role", "user").put("content", question));
    JsonObject body =
        new JsonObject().put("model", MODEL).put("stream", true).put("messages", messages);
    return SmallServer.chat(gateway.authority(), body.encode());
  }

  private static void ask(HttpRequest.Builder call) throws IOException {
    HttpResponse<String> answer = SmallServer.send(call, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(
          "the gateway answered %d: %s".formatted(answer.statusCode(), answer.body()));
    }
  }

  @Override
  public void close() {
    gateway.close();
    proxies.forEach(SmallPdProxy::close);
    decoders.forEach(FakeEngine::close);
    prefill.close();
  }
}
