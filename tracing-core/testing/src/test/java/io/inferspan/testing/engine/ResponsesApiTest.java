package io.inferspan.testing.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ResponsesApiTest {
  private static final String RESPONSES = "/v1/responses";

  private final FakeEngine engine =
      FakeEngine.builder()
          .script(EngineScript.builder().tokens(3).cachedTokens(1).model("real").build())
          .start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void whole_isACompletedResponseWithUsage() throws Exception {
    JsonTree json =
        EngineClient.json(
            engine,
            RESPONSES,
            """
            {"model":"alias","instructions":"be kind",
             "input":[{"role":"user","content":[{"type":"input_text","text":"a b c"}]}]}""");

    assertThat(json.at("object")).isEqualTo("response");
    assertThat(json.at("status")).isEqualTo("completed");
    assertThat(json.at("model")).isEqualTo("real");
    assertThat(json.at("output.0.content.0.text")).isEqualTo("tok0 tok1 tok2");
    assertThat(json.at("usage.input_tokens")).isEqualTo(5L);
    assertThat(json.at("usage.input_tokens_details.cached_tokens")).isEqualTo(1L);
    assertThat(json.at("usage.output_tokens")).isEqualTo(3L);
    assertThat(json.at("usage.total_tokens")).isEqualTo(8L);
  }

  @Test
  void stream_hasEveryEventInOrder() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(engine, RESPONSES, "{\"input\":\"a b\",\"stream\":true}");

    assertThat(events)
        .extracting(SseEvent::name)
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.json().at("type")).isEqualTo(event.name()));
    assertThat(events)
        .extracting(event -> event.json().at("sequence_number"))
        .containsExactlyElementsOf(LongStream.range(0, 11).boxed().toList());
    assertThat(events.get(5).json().at("delta")).isEqualTo(" tok1");
    assertThat(events.get(0).json().at("response.usage")).isNull();
    assertThat(events.get(10).json().at("response.usage.output_tokens")).isEqualTo(3L);
    assertThat(events.get(10).json().at("response.status")).isEqualTo("completed");
  }

  @Test
  void streamAtTheTokenLimit_endsIncomplete() throws Exception {
    List<SseEvent> events =
        EngineClient.stream(
            engine, RESPONSES, "{\"input\":\"a\",\"stream\":true,\"max_output_tokens\":1}");

    SseEvent last = events.get(events.size() - 1);
    assertThat(last.name()).isEqualTo("response.incomplete");
    assertThat(last.json().at("response.incomplete_details.reason")).isEqualTo("max_output_tokens");
    assertThat(last.json().at("response.usage.output_tokens")).isEqualTo(1L);
  }

  @Test
  void errorEvent_isNamedError() throws Exception {
    engine.enqueue(EngineScript.builder().errorEventAfterTokens(1, "out of blocks").build());

    List<SseEvent> events = EngineClient.stream(engine, RESPONSES, "{\"stream\":true}");

    SseEvent last = events.get(events.size() - 1);
    assertThat(last.name()).isEqualTo("error");
    assertThat(last.json().at("message")).isEqualTo("out of blocks");
    assertThat(last.json().at("sequence_number")).isEqualTo(5L);
  }
}
