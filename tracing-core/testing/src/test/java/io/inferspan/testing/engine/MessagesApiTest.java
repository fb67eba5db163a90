package io.inferspan.testing.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MessagesApiTest {
  private static final String MESSAGES = "/v1/messages";

  private final FakeEngine engine =
      FakeEngine.builder().script(EngineScript.builder().tokens(2).cachedTokens(3).build()).start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void whole_isAMessageWhoseUsageSeparatesCachedTokens() throws Exception {
    JsonTree json =
        EngineClient.json(
            engine,
            MESSAGES,
            """
            {"model":"m","max_tokens":9,"system":"x y",
             "messages":[{"role":"user","content":"a b c"}]}""");

    assertThat(json.at("type")).isEqualTo("message");
    assertThat(json.at("content.0.text")).isEqualTo("tok0 tok1");
    assertThat(json.at("stop_reason")).isEqualTo("end_turn");
    assertThat(json.at("usage.input_tokens")).isEqualTo(2L);
    assertThat(json.at("usage.cache_read_input_tokens")).isEqualTo(3L);
    assertThat(json.at("usage.output_tokens")).isEqualTo(2L);
  }

  @Test
  void stream_hasEveryEventInOrder() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(
            engine,
            MESSAGES,
            """
            {"max_tokens":1,"stream":true,
             "messages":[{"role":"user","content":[{"type":"text","text":"a b c d"}]}]}""");

    assertThat(events)
        .extracting(SseEvent::name)
        .containsExactly(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.json().at("type")).isEqualTo(event.name()));
    assertThat(events.get(0).json().at("message.usage.input_tokens")).isEqualTo(1L);
    assertThat(events.get(2).json().at("delta.type")).isEqualTo("text_delta");
    assertThat(events.get(2).json().at("delta.text")).isEqualTo("tok0");
    assertThat(events.get(4).json().at("delta.stop_reason")).isEqualTo("max_tokens");
    assertThat(events.get(4).json().at("usage.output_tokens")).isEqualTo(1L);
  }

  @Test
  void errors_areAnthropicErrors() throws Exception {
    engine.enqueue(
        EngineScript.builder().failWith(503, "full").build(),
        EngineScript.builder().errorEventAfterTokens(1, "broken").build());

    HttpResponse<String> refused = EngineClient.post(engine, MESSAGES, "{}");
    List<SseEvent> failed = EngineClient.stream(engine, MESSAGES, "{\"stream\":true}");

    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(JsonTree.of(refused.body()).at("type")).isEqualTo("error");
    assertThat(JsonTree.of(refused.body()).at("error.type")).isEqualTo("overloaded_error");
    assertThat(failed.get(failed.size() - 1).name()).isEqualTo("error");
    assertThat(failed.get(failed.size() - 1).json().at("error.message")).isEqualTo("broken");
  }
}
