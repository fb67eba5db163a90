package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.EngineClient.CHAT;
import static io.inferspan.testing.engine.EngineClient.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineScript.Usage;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EngineFaultTest {
  private static final String STREAM = "{\"stream\":true}";
  private static final String STREAM_USAGE =
      "{\"stream\":true,\"stream_options\":{\"include_usage\":true}}";

  private final FakeEngine engine = FakeEngine.start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void failWith_sendsTheStatusWithAVllmError() throws Exception {
    engine.script(EngineScript.builder().failWith(503, "not \"now\"").build());

    HttpResponse<String> response = EngineClient.post(engine, CHAT, STREAM);

    JsonTree json = JsonTree.of(response.body());
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(json.at("error.message")).isEqualTo("not \"now\"");
    assertThat(json.at("error.type")).isEqualTo("ServiceUnavailableError");
    assertThat(json.at("error.param")).isNull();
    assertThat(json.at("error.code")).isEqualTo(503L);
    assertThat(onlyRequest().outcome()).isEqualTo(Outcome.ANSWERED);
  }

  @Test
  void failWithBody_sendsThatBodyAndTheScriptsHeaders() throws Exception {
    engine.script(
        EngineScript.builder()
            .failWithBody(429, "text/plain", "slow down")
            .responseHeader("Retry-After", "7")
            .build());

    HttpResponse<String> response = EngineClient.post(engine, CHAT, "{}");

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.body()).isEqualTo("slow down");
    assertThat(response.headers().firstValue("content-type")).hasValue("text/plain");
    assertThat(response.headers().firstValue("retry-after")).hasValue("7");
  }

  @Test
  void cutBeforeHeaders_closesWithoutAByte() throws Exception {
    engine.script(EngineScript.builder().cutBeforeHeaders().build());

    assertThat(EngineClient.readToEnd(EngineClient.open(engine, CHAT, "{}"))).isEmpty();
    assertThat(onlyRequest().outcome()).isEqualTo(Outcome.CUT);
  }

  @Test
  void cutAfterTokens_closesInTheMiddleOfTheStream() throws Exception {
    engine.script(EngineScript.builder().cutAfterTokens(2).build());

    String read = EngineClient.readToEnd(EngineClient.open(engine, CHAT, STREAM));

    assertThat(read).startsWith("HTTP/1.1 200").contains("tok0", "tok1");
    assertThat(read).doesNotContain("tok2", "[DONE]", "\r\n0\r\n");
    assertThat(onlyRequest().outcome()).isEqualTo(Outcome.CUT);
    assertThatThrownBy(() -> EngineClient.post(engine, CHAT, STREAM))
        .isInstanceOf(IOException.class);
  }

  @Test
  void cutAfterTokens_closesInTheMiddleOfAJsonBody() throws Exception {
    engine.script(EngineScript.builder().cutAfterTokens(2).build());

    String read = EngineClient.readToEnd(EngineClient.open(engine, CHAT, "{}"));

    assertThat(read).startsWith("HTTP/1.1 200").contains("\"id\":\"chatcmpl-");
    assertThat(read).doesNotContain("finish_reason");
    assertThatThrownBy(() -> EngineClient.post(engine, CHAT, "{}")).isInstanceOf(IOException.class);
  }

  @Test
  void stallAfterTokens_sendsNothing_andKeepsTheConnectionOpen() throws Exception {
    engine.script(EngineScript.builder().stallAfterTokens(2).build());

    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      EngineClient.readUntil(socket, "tok1");
      EngineClient.readUntil(socket, "\n\n\r\n");
      socket.setSoTimeout(150);
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
      assertThat(onlyRequest().outcome()).isEqualTo(Outcome.RUNNING);
    }
    assertThat(onlyRequest().awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
  }

  @Test
  void stallAfterTokens_neverSendsAJsonBody() throws Exception {
    engine.script(EngineScript.builder().stallAfterTokens(0).build());

    try (Socket socket = EngineClient.open(engine, CHAT, "{}")) {
      engine.awaitRequests(1, LIMIT);
      socket.setSoTimeout(150);
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void errorEvent_endsTheStreamCorrectly() throws Exception {
    engine.script(EngineScript.builder().errorEventAfterTokens(1, "out of blocks").build());

    List<SseEvent> events = EngineClient.stream(engine, CHAT, STREAM);

    assertThat(events).hasSize(4);
    assertThat(events.get(1).json().at("choices.0.delta.content")).isEqualTo("tok0");
    assertThat(events.get(2).json().at("error.message")).isEqualTo("out of blocks");
    assertThat(events.get(3).data()).isEqualTo("[DONE]");
  }

  @Test
  void errorEvent_isStatus500WithoutAStream() throws Exception {
    engine.script(EngineScript.builder().errorEventAfterTokens(1, "out of blocks").build());

    HttpResponse<String> response = EngineClient.post(engine, CHAT, "{}");

    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(JsonTree.of(response.body()).at("error.type")).isEqualTo("InternalServerError");
  }

  @Test
  void garbage_isSent_andTheStreamContinues() throws Exception {
    engine.script(EngineScript.builder().garbageAfterTokens(2).build());

    Socket socket = EngineClient.open(engine, CHAT, STREAM);
    String read = EngineClient.readUntil(socket, "\r\n0\r\n\r\n");
    socket.close();

    assertThat(read.indexOf('\u00ff')).isBetween(read.indexOf("tok1"), read.indexOf("tok2"));
    assertThat(read).contains("tok4", "[DONE]");
  }

  @Test
  void garbage_replacesAJsonBody() throws Exception {
    engine.script(EngineScript.builder().garbageAfterTokens(1).build());

    HttpResponse<String> response = EngineClient.post(engine, CHAT, "{}");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThatThrownBy(() -> JsonTree.of(response.body())).hasMessageStartingWith("not JSON");
  }

  @Test
  void slowHeaders_delayTheStatusLine() throws Exception {
    engine.script(EngineScript.builder().slowHeaders(Duration.ofMillis(120)).build());

    long started = System.nanoTime();
    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      socket.getInputStream().read();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - started))
        .isGreaterThanOrEqualTo(Duration.ofMillis(120));
  }

  @Test
  void streamHeaders_areSentBeforeTheFirstToken() throws Exception {
    engine.script(EngineScript.builder().prefill(Duration.ofHours(1)).build());

    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      assertThat(EngineClient.readUntil(socket, "\r\n\r\n")).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void usageNone_omitsUsageInEveryApi() throws Exception {
    engine.script(EngineScript.builder().usage(Usage.NONE).build());
    for (String path : List.of(CHAT, "/v1/completions", "/v1/messages", "/inference/v1/generate")) {
      assertThat(EngineClient.post(engine, path, "{}").body()).doesNotContain("usage");
      assertThat(EngineClient.post(engine, path, STREAM_USAGE).body()).doesNotContain("usage");
    }
    assertThat(EngineClient.json(engine, "/v1/responses", "{}").at("usage")).isNull();
  }

  @Test
  void usageWithoutDetails_hasNoCachedTokens() throws Exception {
    engine.script(EngineScript.builder().cachedTokens(4).usage(Usage.WITHOUT_DETAILS).build());

    JsonTree json = EngineClient.json(engine, CHAT, "{}");

    assertThat(json.at("usage.completion_tokens")).isEqualTo(5L);
    assertThat(json.at("usage.prompt_tokens_details")).isNull();
  }

  @Test
  void finishReason_canBeAnything() throws Exception {
    engine.script(EngineScript.builder().finishReason("cache_threshold").build());

    assertThat(EngineClient.json(engine, CHAT, "{}").at("choices.0.finish_reason"))
        .isEqualTo("cache_threshold");
  }

  @Test
  void faultAfterTheLastToken_hasNoEffect() throws Exception {
    engine.script(EngineScript.builder().cutAfterTokens(2).build());

    assertThat(EngineClient.json(engine, CHAT, "{\"max_tokens\":1}").at("usage.completion_tokens"))
        .isEqualTo(1L);
  }

  private EngineRequest onlyRequest() {
    return engine.awaitRequests(1, LIMIT).get(0);
  }
}
