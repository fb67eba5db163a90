package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.EngineClient.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OpenAiApisTest {
  private static final String COMPLETIONS = "/v1/completions";
  private static final String GENERATE = "/inference/v1/generate";

  private final FakeEngine engine =
      FakeEngine.builder().script(EngineScript.builder().tokens(3).cachedTokens(2).build()).start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void chat_returnsOneJsonBodyWithUsage() throws Exception {
    JsonTree json =
        EngineClient.json(
            engine,
            CHAT,
            """
            {"model":"m","messages":[{"role":"system","content":"be brief"},
             {"role":"user","content":[{"type":"text","text":" one two\\tthree "}]}]}""");

    assertThat(json.at("object")).isEqualTo("chat.completion");
    assertThat((String) json.at("id")).startsWith("chatcmpl-");
    assertThat(json.at("model")).isEqualTo("m");
    assertThat(json.at("choices.0.message.role")).isEqualTo("assistant");
    assertThat(json.at("choices.0.message.content")).isEqualTo("tok0 tok1 tok2");
    assertThat(json.at("choices.0.finish_reason")).isEqualTo("stop");
    assertThat(json.at("usage.prompt_tokens")).isEqualTo(5L);
    assertThat(json.at("usage.completion_tokens")).isEqualTo(3L);
    assertThat(json.at("usage.total_tokens")).isEqualTo(8L);
    assertThat(json.at("usage.prompt_tokens_details.cached_tokens")).isEqualTo(2L);
    assertThat(json.has("kv_transfer_params")).isTrue();
    assertThat(json.at("kv_transfer_params")).isNull();
  }

  @Test
  void chatStream_isRoleThenContentThenFinishThenUsageThenDone() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(
            engine,
            CHAT,
            """
            {"messages":[{"role":"user","content":"hi"}],"stream":true,
             "stream_options":{"include_usage":true}}""");

    assertThat(events).hasSize(7).allSatisfy(event -> assertThat(event.name()).isNull());
    assertThat(events.get(0).json().at("choices.0.delta.role")).isEqualTo("assistant");
    assertThat(events.get(0).json().at("object")).isEqualTo("chat.completion.chunk");
    assertThat(events.subList(1, 4))
        .extracting(event -> event.json().at("choices.0.delta.content"))
        .containsExactly("tok0", " tok1", " tok2");
    assertThat(events.get(3).json().at("choices.0.finish_reason")).isNull();
    assertThat(events.get(4).json().at("choices.0.finish_reason")).isEqualTo("stop");
    assertThat(events.get(5).json().at("choices")).isEqualTo(List.of());
    assertThat(events.get(5).json().at("usage.completion_tokens")).isEqualTo(3L);
    assertThat(events.get(5).json().at("usage.prompt_tokens_details.cached_tokens")).isEqualTo(2L);
    assertThat(events.get(6).data()).isEqualTo("[DONE]");
  }

  @Test
  void chatStreamWithoutIncludeUsage_hasNoUsageChunk() throws Exception {
    List<SseEvent> events = EngineClient.stream(engine, CHAT, "{\"stream\":true}");

    assertThat(events).hasSize(6);
    assertThat(events).noneMatch(event -> event.data().contains("\"usage\""));
  }

  @Test
  void completions_returnsOneJsonBodyWithUsage() throws Exception {
    JsonTree json = EngineClient.json(engine, COMPLETIONS, "{\"prompt\":[\"a b\",\"c\"],\"n\":4}");

    assertThat(json.at("object")).isEqualTo("text_completion");
    assertThat((String) json.at("id")).startsWith("cmpl-");
    assertThat(json.at("choices.0.text")).isEqualTo("tok0 tok1 tok2");
    assertThat(json.at("choices.1")).isNull();
    assertThat(json.at("usage.prompt_tokens")).isEqualTo(3L);
  }

  @Test
  void completionsStream_isTextThenFinishThenUsageThenDone() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(
            engine,
            COMPLETIONS,
            "{\"prompt\":\"a\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");

    assertThat(events).hasSize(6);
    assertThat(events.subList(0, 4))
        .extracting(event -> event.json().at("choices.0.text"))
        .containsExactly("tok0", " tok1", " tok2", "");
    assertThat(events.get(3).json().at("choices.0.finish_reason")).isEqualTo("stop");
    assertThat(events.get(4).json().at("usage.total_tokens")).isEqualTo(4L);
    assertThat(events.get(5).data()).isEqualTo("[DONE]");
  }

  @Test
  void generate_returnsTokenIds() throws Exception {
    JsonTree json =
        EngineClient.json(
            engine,
            GENERATE,
            "{\"token_ids\":[11,12,13,14],\"sampling_params\":{\"max_tokens\":2}}");

    assertThat(json.at("choices.0.token_ids")).isEqualTo(List.of(0L, 1L));
    assertThat(json.at("choices.0.finish_reason")).isEqualTo("length");
    assertThat(json.at("usage.prompt_tokens")).isEqualTo(4L);
  }

  @Test
  void generateStream_isOneTokenIdPerEventThenDone() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(engine, GENERATE, "{\"token_ids\":[1],\"stream\":true}");

    assertThat(events).hasSize(5);
    assertThat(events.get(2).json().at("choices.0.token_ids")).isEqualTo(List.of(2L));
    assertThat(events.get(3).json().at("choices.0.finish_reason")).isEqualTo("stop");
    assertThat(events.get(4).data()).isEqualTo("[DONE]");
  }

  @Test
  void limits_endTheResponseWithLength() throws Exception {
    for (String limit : List.of("max_tokens", "max_completion_tokens")) {
      JsonTree json = EngineClient.json(engine, CHAT, "{\"" + limit + "\":2}");

      assertThat(json.at("choices.0.message.content")).isEqualTo("tok0 tok1");
      assertThat(json.at("choices.0.finish_reason")).isEqualTo("length");
      assertThat(json.at("usage.completion_tokens")).isEqualTo(2L);
    }
  }

  @Test
  void requestId_isPartOfTheResponseId_andReturnedAsAHeader() throws Exception {
    HttpResponse<String> response =
        EngineClient.post(engine, CHAT, "{}", "X-Request-Id", "abc", "X-Request-Id", "second");

    assertThat(JsonTree.of(response.body()).at("id")).isEqualTo("chatcmpl-abc");
    assertThat(response.headers().allValues("x-request-id")).containsExactly("abc");
  }

  @Test
  void rejections_areVllmErrors() throws Exception {
    List<String> bodies =
        List.of(
            "not json",
            "[]",
            "{\"a\":1",
            "{} {}",
            "{\"max_tokens\":0}",
            "{\"max_tokens\":1,\"min_tokens\":2}",
            "{\"stream_options\":{\"include_usage\":true}}");
    for (String body : bodies) {
      HttpResponse<String> response = EngineClient.post(engine, CHAT, body);

      JsonTree json = JsonTree.of(response.body());
      assertThat(response.statusCode()).as(body).isEqualTo(400);
      assertThat(json.at("error.type")).isEqualTo("BadRequestError");
      assertThat(json.at("error.code")).isEqualTo(400L);
      assertThat((String) json.at("error.message")).isNotEmpty();
    }
  }
}
