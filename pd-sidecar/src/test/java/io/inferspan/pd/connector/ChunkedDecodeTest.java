package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.EngineScript.Usage;
import io.inferspan.testing.engine.FakeEngine;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(Cleanliness.class)
final class ChunkedDecodeTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILL = "x-prefiller-host-port";
  private static final String MESSAGES =
      "\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeEngine decoder =
      FakeEngine.builder().script(EngineScript.builder().tokens(1000).build()).start();
  private final SidecarRig sidecar = sidecar(decoder.port());

  private SidecarRig sidecar(int decoderPort, String... flags) {
    return SidecarRig.before(decoderPort)
        .with("--decode-chunk-size=40")
        .with(flags)
        .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
        .start();
  }

  @AfterEach
  void stop() {
    sidecar.close();
    decoder.close();
  }

  private static String chat(String members) {
    return "{" + members + "," + MESSAGES + "}";
  }

  private List<JsonNode> asked() {
    return decoder.requests().stream()
        .map(request -> ScriptedEngine.parse(request.bodyText()))
        .toList();
  }

  private static JsonNode json(HttpResponse<String> answer) {
    return ScriptedEngine.parse(answer.body());
  }

  private static String text(int tokens) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < tokens; i++) {
      text.append(i == 0 ? "tok0" : " tok" + i);
    }
    return text.toString();
  }

  private static List<String> events(HttpResponse<String> answer) {
    return Arrays.stream(answer.body().split("\n\n", -1))
        .filter(event -> !event.isEmpty())
        .map(event -> event.substring("data: ".length()))
        .toList();
  }

  @Test
  void clientMessages_areNotChanged() {
    sidecar.post(CHAT, "{\"max_tokens\":80,\"messages\":[ {\"role\" :\"user\"} ,\t1 ]}");

    assertThat(decoder.requests().getLast().bodyText())
        .contains("[ {\"role\" :\"user\"} ,\t1,{\"role\":\"assistant\",");
  }

  private static EngineScript words(String content) {
    return EngineScript.builder().content(content).build();
  }

  @Test
  void tokenLimit_isUsedUpChunkByChunk() {
    HttpResponse<String> answer = sidecar.post(CHAT, chat("\"max_tokens\":100"));

    assertThat(asked())
        .extracting(body -> body.get("max_tokens").asInt())
        .containsExactly(40, 40, 20);
    assertThat(asked())
        .extracting(body -> body.get("max_completion_tokens").asInt())
        .containsExactly(40, 40, 20);
    assertThat(json(answer).at("/choices/0/message/content").asText())
        .isEqualTo(text(40) + text(40) + text(20));
    assertThat(json(answer).at("/choices/0/finish_reason").asText()).isEqualTo("length");
  }

  @Test
  void usage_isSummed_withThePromptOfTheFirstChunk() {
    JsonNode usage = json(sidecar.post(CHAT, chat("\"max_tokens\":100"))).get("usage");

    assertThat(usage.get("prompt_tokens").asInt()).isEqualTo(3);
    assertThat(usage.get("completion_tokens").asInt()).isEqualTo(100);
    assertThat(usage.get("total_tokens").asInt()).isEqualTo(103);
  }

  @Test
  void eachChunk_continuesAfterTheGeneratedText() {
    sidecar.post(
        CHAT, chat("\"temperature\":0.10,\"stream\":true,\"stream_options\":{},\"max_tokens\":90"));

    JsonNode first = asked().getFirst();
    assertThat(first.has("continue_final_message")).isFalse();
    assertThat(first.get("messages")).hasSize(1);
    JsonNode third = asked().getLast();
    assertThat(third.get("continue_final_message").asBoolean()).isTrue();
    assertThat(third.get("add_generation_prompt").asBoolean(true)).isFalse();
    assertThat(third.get("messages")).hasSize(2);
    assertThat(third.at("/messages/1"))
        .isEqualTo(
            ScriptedEngine.parse(
                "{\"role\":\"assistant\",\"content\":\"" + text(40) + text(40) + "\"}"));
    for (JsonNode body : asked()) {
      assertThat(body.get("stream").asBoolean(true)).isFalse();
      assertThat(body.has("stream_options")).isFalse();
      assertThat(body.get("temperature").asDouble()).isEqualTo(0.1);
    }
  }

  @Test
  void unfinishedMessageOfTheClient_isContinued() {
    sidecar.post(
        CHAT,
        "{\"max_tokens\":80,\"continue_final_message\":true,\"messages\":["
            + "{\"role\":\"user\",\"content\":\"a\"},"
            + "{\"role\":\"assistant\",\"name\":\"bot\",\"content\":\"Once \"}]}");

    assertThat(asked().getLast().at("/messages"))
        .isEqualTo(
            ScriptedEngine.parse(
                "[{\"role\":\"user\",\"content\":\"a\"},"
                    + "{\"role\":\"assistant\",\"name\":\"bot\",\"content\":\"Once "
                    + text(40)
                    + "\"}]"));
  }

  @Test
  void decode_stopsWhenTheModelStops_alsoWithoutTokenLimit() {
    decoder.enqueue(EngineScript.builder().tokens(100).build(), words("the end"));

    HttpResponse<String> answer = sidecar.post(CHAT, "{" + MESSAGES + "}");

    assertThat(decoder.requestCount()).isEqualTo(2);
    assertThat(json(answer).at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(json(answer).at("/choices/0/message/content").asText())
        .isEqualTo(text(40) + "the end");
  }

  @Test
  void decode_stopsAtAnEmptyChunk() {
    decoder.enqueue(
        EngineScript.builder().tokens(100).build(),
        EngineScript.builder().tokens(0).finishReason("length").build());

    sidecar.post(CHAT, chat("\"max_tokens\":1000"));

    assertThat(decoder.requestCount()).isEqualTo(2);
  }

  @Test
  void tokenLimitOfOneChunk_isDecodedInOnePiece_withUnchangedBody() {
    String json = chat(" \"max_tokens\" : 40");

    sidecar.post(CHAT, json);
    sidecar.post(CHAT, chat("\"max_tokens\":100,\"max_completion_tokens\":5"));
    sidecar.post(CHAT, chat("\"n\":2,\"max_tokens\":100"));

    assertThat(decoder.requests().getFirst().bodyText()).isEqualTo(json);
    assertThat(decoder.requestCount()).isEqualTo(3);
  }

  @Test
  void otherRoutes_areDecodedInOnePiece() {
    sidecar.post("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":100}");

    assertThat(decoder.requestCount()).isEqualTo(1);
  }

  @Test
  void minTokens_areUsedUpToo_andLimitedToAChunk() {
    sidecar.post(CHAT, chat("\"max_tokens\":100,\"min_tokens\":50"));

    assertThat(asked())
        .extracting(body -> body.get("min_tokens").asInt())
        .containsExactly(40, 10, 0);
  }

  @Test
  void engineWithoutUsage_countsAsHavingUsedTheLimit() {
    decoder.script(EngineScript.builder().tokens(1000).usage(Usage.NONE).build());

    HttpResponse<String> answer = sidecar.post(CHAT, chat("\"stream\":true,\"max_tokens\":100"));

    assertThat(decoder.requestCount()).isEqualTo(3);
    assertThat(events(answer)).hasSize(4);
  }

  @Test
  void stream_hasOneEventPerChunk_thenTheUsage_thenDone() {
    HttpResponse<String> answer = sidecar.post(CHAT, chat("\"stream\":true,\"max_tokens\":100"));

    assertThat(answer.headers().firstValue("content-type")).hasValue("text/event-stream");
    List<String> events = events(answer);
    assertThat(events).hasSize(5);
    assertThat(events.getLast()).isEqualTo("[DONE]");
    List<JsonNode> chunks = events.subList(0, 4).stream().map(ScriptedEngine::parse).toList();
    assertThat(chunks)
        .allSatisfy(
            chunk -> {
              assertThat(chunk.get("object").asText()).isEqualTo("chat.completion.chunk");
              assertThat(chunk.get("id")).isEqualTo(chunks.getFirst().get("id"));
            });
    assertThat(chunks.subList(0, 3))
        .allSatisfy(chunk -> assertThat(chunk.has("usage")).isFalse())
        .extracting(chunk -> chunk.at("/choices/0/delta/content").asText())
        .containsExactly(text(40), text(40), text(20));
    assertThat(chunks.subList(0, 3))
        .extracting(chunk -> chunk.at("/choices/0/finish_reason").asText())
        .containsExactly("null", "null", "length");
    assertThat(chunks.getLast().get("choices")).isEmpty();
    assertThat(chunks.getLast().at("/usage/completion_tokens").asInt()).isEqualTo(100);
  }

  @Test
  void responseOfSeveralLines_isOneEvent() {
    try (ScriptedEngine pretty =
            ScriptedEngine.answering(
                """
                {
                  "choices": [ {
                    "message": {"content": "a\\nb", "tool_calls": [ {"id": "x"}, {"id": "y"} ]},
                    "finish_reason": "tool_calls"
                  } ]
                }
                """);
        SidecarRig own = sidecar(pretty.port())) {
      List<String> events = events(own.post(CHAT, chat("\"stream\":true,\"max_tokens\":100")));

      assertThat(events).hasSize(2).noneMatch(event -> event.contains("\n"));
      JsonNode delta = ScriptedEngine.parse(events.getFirst()).at("/choices/0/delta");
      assertThat(delta.get("content").asText()).isEqualTo("a\nb");
      assertThat(delta.at("/tool_calls/1"))
          .isEqualTo(ScriptedEngine.parse("{\"id\":\"y\",\"index\":1}"));
    }
  }

  @Test
  void span_countsChunksAndTokens_andHasTheCalls() {
    sidecar.post(CHAT, chat("\"max_tokens\":100"));

    List<SpanRecord> spans = tracing.awaitSpans(6, PATIENCE);
    SpanRecord span = SidecarRig.only(spans, "chunked_decode");
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.chunk_size")).isEqualTo(40L);
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.streaming")).isEqualTo(false);
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.chunks")).isEqualTo(3L);
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.total_tokens")).isEqualTo(100L);
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.duration_ms")).isNotNull();
    assertThat(spans)
        .filteredOn(call -> call.name().equals("HTTP POST"))
        .hasSize(3)
        .allSatisfy(call -> assertThat(call.parentSpanId()).isEqualTo(span.spanId()));
    assertThat(SidecarRig.only(spans, "forward_request").spanId()).isEqualTo(span.parentSpanId());
  }

  @Test
  void afterPrefill_onlyTheFirstChunkHasTransferParams() {
    String prefilled =
        "{\"kv_transfer_params\":{\"remote_port\":1},"
            + "\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}}";
    try (ScriptedEngine prefiller = ScriptedEngine.answering(prefilled)) {
      HttpResponse<String> answer =
          sidecar.post(CHAT, chat("\"max_tokens\":100"), PREFILL, prefiller.authority());

      assertThat(asked())
          .extracting(body -> body.has("kv_transfer_params"))
          .containsExactly(true, false, false);
      assertThat(asked().getFirst().at("/kv_transfer_params/remote_port").asInt()).isEqualTo(1);
      assertThat(decoder.requests())
          .extracting(request -> request.header("x-request-id"))
          .doesNotContainNull()
          .allMatch(prefiller.requests().getFirst().getHeader("x-request-id")::equals);
      assertThat(json(answer).at("/usage/prompt_tokens_details/cached_tokens").asInt())
          .isEqualTo(7);
      assertThat(json(answer).at("/usage/completion_tokens").asInt()).isEqualTo(100);
      List<SpanRecord> spans = tracing.awaitSpans(9, PATIENCE);
      assertThat(SidecarRig.only(spans, "chunked_decode").parentSpanId())
          .isEqualTo(SidecarRig.only(spans, "decode").spanId());
    }
  }

  @Test
  void afterPrefill_streamHasPrefillsCachedTokens() {
    String prefilled = "{\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}}";
    try (ScriptedEngine prefiller = ScriptedEngine.answering(prefilled)) {
      List<String> events =
          events(
              sidecar.post(
                  CHAT,
                  chat("\"stream\":true,\"max_tokens\":100"),
                  PREFILL,
                  prefiller.authority()));

      assertThat(events).hasSize(5);
      assertThat(
              ScriptedEngine.parse(events.get(3))
                  .at("/usage/prompt_tokens_details/cached_tokens")
                  .asInt())
          .isEqualTo(7);
    }
  }

  @Test
  void otherConnectors_decodeInOnePieceAfterPrefill() {
    try (FakeEngine prefiller = FakeEngine.start();
        SidecarRig own = sidecar(decoder.port(), "--kv-connector=shared-storage")) {
      own.post(CHAT, chat("\"max_tokens\":100"), PREFILL, prefiller.authority());

      assertThat(decoder.requestCount()).isEqualTo(1);
    }
  }
}
