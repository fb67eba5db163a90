package io.inferspan.pd.connector;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(Cleanliness.class)
final class SharedStorageTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES =
      "\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]";
  private static final String PLAIN = "{\"max_tokens\":5,\"min_tokens\":1," + MESSAGES + "}";
  private static final String PICKY = "{ \"cache_hit_threshold\" : 0.8," + MESSAGES + "}";
  private static final String PICKY_STREAM =
      "{\"cache_hit_threshold\":0.8,\"stream\":true," + MESSAGES + "}";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeEngine prefiller = FakeEngine.start();
  private final FakeEngine decoder = FakeEngine.start();
  private final SidecarRig sidecar = sidecar(decoder.port());

  private SidecarRig sidecar(int decoderPort) {
    return SidecarRig.before(decoderPort)
        .with("--kv-connector=shared-storage")
        .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
        .start();
  }

  @AfterEach
  void stop() {
    sidecar.close();
    prefiller.close();
    decoder.close();
  }

  private HttpResponse<String> post(SidecarRig to, String path, String json) {
    return to.post(path, json, "x-prefiller-host-port", prefiller.authority());
  }

  private static JsonNode body(EngineRequest request) {
    return ScriptedEngine.parse(request.bodyText());
  }

  @Test
  void withoutThreshold_prefillGeneratesOneToken_thenDecodeGetsTheClientsLimits() {
    HttpResponse<String> answer = post(sidecar, CHAT, PLAIN);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(prefiller.requests()).hasSize(1);
    assertThat(body(prefiller.requests().getFirst()))
        .isEqualTo(
            ScriptedEngine.parse(
                "{\"max_tokens\":1,\"max_completion_tokens\":1,\"min_tokens\":1,"
                    + "\"cache_hit_threshold\":0,"
                    + MESSAGES
                    + "}"));
    assertThat(decoder.requests()).hasSize(1);
    assertThat(body(decoder.requests().getFirst()))
        .isEqualTo(
            ScriptedEngine.parse(
                "{\"max_tokens\":5,\"min_tokens\":1,\"cache_hit_threshold\":0," + MESSAGES + "}"));
  }

  @Test
  void requestId_isNotAdded() {
    post(sidecar, CHAT, PLAIN);

    assertThat(prefiller.requests().getFirst().header("x-request-id")).isNull();
    assertThat(decoder.requests().getFirst().header("x-request-id")).isNull();
  }

  @Test
  void stream_isRequestedFromBothStages() {
    String json = "{\"stream\":true," + MESSAGES + "}";

    HttpResponse<String> answer = post(sidecar, CHAT, json);

    assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    assertThat(body(prefiller.requests().getFirst()).get("stream").asBoolean()).isTrue();
  }

  @Test
  void otherApis_areLimitedInTheMembersThatEnginesRead() {
    post(sidecar, "/v1/responses", "{\"input\":\"one two\",\"max_output_tokens\":9}");
    post(sidecar, "/inference/v1/generate", "{\"token_ids\":[1,2]}");

    assertThat(body(prefiller.requests().getFirst()).get("max_output_tokens").asInt()).isEqualTo(1);
    assertThat(body(prefiller.requests().getLast()).at("/sampling_params/max_tokens").asInt())
        .isEqualTo(1);
  }

  @Test
  void enoughCached_isDecodeOnly_withUnchangedBody() {
    decoder.script(EngineScript.builder().cachedTokens(3).tokens(2).build());

    HttpResponse<String> answer = post(sidecar, CHAT, PICKY);

    assertThat(ScriptedEngine.parse(answer.body()).at("/choices/0/message/content").asText())
        .isEqualTo("tok0 tok1");
    assertThat(prefiller.requestCount()).isZero();
    assertThat(decoder.requests()).extracting(EngineRequest::bodyText).containsExactly(PICKY);
  }

  @Test
  void tooLittleCached_isPrefillThenDecodeAgain() {
    HttpResponse<String> answer = post(sidecar, CHAT, PICKY);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(ScriptedEngine.parse(answer.body()).at("/choices/0/finish_reason").asText())
        .isEqualTo("stop");
    assertThat(prefiller.requestCount()).isEqualTo(1);
    assertThat(decoder.requestCount()).isEqualTo(2);
    assertThat(body(decoder.requests().getLast()).get("cache_hit_threshold").asInt(-1)).isZero();
  }

  @Test
  void tooLittleCached_inAStream_clientGetsOneResponseOnly() {
    HttpResponse<String> answer = post(sidecar, CHAT, PICKY_STREAM);

    assertThat(answer.body()).doesNotContain("cache_threshold").contains("tok0");
    assertThat(answer.body().split("\\[DONE\\]", -1)).hasSize(2);
    assertThat(prefiller.requestCount()).isEqualTo(1);
    assertThat(decoder.requestCount()).isEqualTo(2);
  }

  @Test
  void enoughCached_inAStream_isForwardedAsItArrives() throws Exception {
    decoder.script(EngineScript.builder().cachedTokens(3).tokens(5).stallAfterTokens(2).build());
    try (ClientStream stream =
        ClientStream.post(
            sidecar, CHAT, PICKY_STREAM, "x-prefiller-host-port", prefiller.authority())) {
      assertThat(stream.readUntil("tok1")).contains("tok0");
    }

    assertThat(decoder.requests().getFirst().awaitEnd(PATIENCE)).isEqualTo(Outcome.CLIENT_GONE);
    assertThat(prefiller.requestCount()).isZero();
    tracing.awaitSpans(4, PATIENCE);
  }

  @Test
  void eventsSplitOverReads_areRecognised() {
    String missed =
        """
        data: {"choices":[{"delta":{"role":"assistant"},"finish_reason":null}]}\r
        \r
        data: {"choices":[{"delta":{},"finish_reason":"cache_threshold"}]}\r
        \r
        data: [DONE]\r
        \r
        """;
    try (ScriptedEngine scripted = ScriptedEngine.answering("{}");
        SidecarRig own = sidecar(scripted.port())) {
      scripted.answer(
          aResponse()
              .withHeader("content-type", "text/event-stream")
              .withBody(missed)
              .withChunkedDribbleDelay(11, 110));

      post(own, CHAT, PICKY_STREAM);

      assertThat(prefiller.requestCount()).isEqualTo(1);
      assertThat(scripted.requests()).hasSize(2);
    }
  }

  @Test
  void streamOfOneEvent_isDecidedAtItsEnd() {
    String missed = "data: {\"choices\":[{\"finish_reason\":\"cache_threshold\"}]}\n\n";
    try (ScriptedEngine scripted = ScriptedEngine.answering("{}");
        SidecarRig own = sidecar(scripted.port())) {
      scripted.answer(aResponse().withHeader("content-type", "text/event-stream").withBody(missed));

      post(own, CHAT, PICKY_STREAM);

      assertThat(prefiller.requestCount()).isEqualTo(1);
    }
  }

  @Test
  void errorOfTheFirstDecode_isForwarded_withoutItsHeaders() {
    for (String json : List.of(PICKY, PICKY_STREAM)) {
      decoder.script(
          EngineScript.builder()
              .responseHeader("x-secret", "1")
              .failWithBody(418, "application/json", "{\"error\":\"teapot\"}")
              .build());

      HttpResponse<String> answer = post(sidecar, CHAT, json);

      assertThat(answer.statusCode()).isEqualTo(418);
      assertThat(answer.body()).isEqualTo("{\"error\":\"teapot\"}");
      assertThat(answer.headers().map()).doesNotContainKey("x-secret");
    }
    assertThat(prefiller.requestCount()).isZero();
  }

  @Test
  void firstResponseThatIsNotJson_is500() {
    decoder.script(EngineScript.builder().failWithBody(200, "text/plain", "hello").build());

    HttpResponse<String> answer = post(sidecar, CHAT, PICKY);

    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(ScriptedEngine.parse(answer.body()).get("type").asText())
        .isEqualTo("InternalServerError");
    assertThat(prefiller.requestCount()).isZero();
  }

  @Test
  void firstResponseBeyondTheBodyLimit_isForwarded() {
    String large = "{\"choices\":[],\"x\":\"" + "y".repeat(300_000) + "\"}";
    try (ScriptedEngine scripted = ScriptedEngine.answering(large);
        SidecarRig own =
            SidecarRig.before(scripted.port())
                .with("--kv-connector=shared-storage", "--body-limit=64KiB")
                .start()) {
      assertThat(post(own, CHAT, PICKY).body()).isEqualTo(large);
    }
  }

  @Test
  void errorOfPrefill_isForwarded_withoutItsHeaders() {
    prefiller.script(
        EngineScript.builder()
            .responseHeader("x-secret", "1")
            .failWithBody(429, "application/json", "{\"error\":\"busy\"}")
            .build());

    HttpResponse<String> answer = post(sidecar, CHAT, PLAIN);

    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.body()).isEqualTo("{\"error\":\"busy\"}");
    assertThat(answer.headers().map()).doesNotContainKey("x-secret");
    assertThat(decoder.requestCount()).isZero();
  }

  @Test
  void disconnectedClient_cancelsAHeldDecode() {
    decoder.script(EngineScript.builder().cachedTokens(3).stallAfterTokens(1).build());
    var waiting =
        sidecar
            .client()
            .sendAsync(
                sidecar
                    .request(CHAT, "x-prefiller-host-port", prefiller.authority())
                    .POST(BodyPublishers.ofString(PICKY))
                    .build(),
                BodyHandlers.ofString());
    EngineRequest held = decoder.awaitRequests(1, PATIENCE).getFirst();

    waiting.cancel(true);

    assertThat(held.awaitEnd(PATIENCE)).isEqualTo(Outcome.CLIENT_GONE);
    assertThat(prefiller.requestCount()).isZero();
    tracing.awaitSpans(4, PATIENCE);
  }

  @Test
  void stages_haveSpans_alsoTheFirstDecode() {
    post(sidecar, CHAT, PICKY);

    List<SpanRecord> spans = tracing.awaitSpans(8, PATIENCE);
    assertThat(spans).extracting(SpanRecord::name).filteredOn("decode"::equals).hasSize(2);
    assertThat(SidecarRig.only(spans, "prefill").attribute("llm_d.pd_proxy.connector"))
        .isEqualTo("shared-storage");
  }
}
