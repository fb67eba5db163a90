package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(Cleanliness.class)
final class EncodeStageTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String CHAT = "/v1/chat/completions";
  private static final String ENCODERS = "x-encoder-hosts-ports";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final ScriptedEngine first = ScriptedEngine.answering("{}");
  private final ScriptedEngine second = ScriptedEngine.answering("{}");
  private final ScriptedEngine prefiller = ScriptedEngine.answering("{\"kv_transfer_params\":{}}");
  private final ScriptedEngine decoder = ScriptedEngine.answering("{}");
  private final SidecarRig sidecar = sidecar("--ec-connector=ec-nixl");

  private SidecarRig sidecar(String... flags) {
    return SidecarRig.before(decoder.port())
        .with(flags)
        .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
        .start();
  }

  @AfterEach
  void stop() {
    sidecar.close();
    first.close();
    second.close();
    prefiller.close();
    decoder.close();
  }

  private static String image(String url) {
    return "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + url + "\"}}";
  }

  private static String chat(String... items) {
    return "{\"model\":\"m\",\"max_tokens\":9,\"stream\":false,\"messages\":[{\"role\":\"user\","
        + "\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
        + String.join(",", items)
        + "]}]}";
  }

  private String both() {
    return first.authority() + "," + second.authority();
  }

  private static JsonNode body(LoggedRequest request) {
    return ScriptedEngine.parse(request.getBodyAsString());
  }

  @Test
  void eachDistinctItem_isEncodedOnce_byTheEncodersInTurn() {
    String sound = "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\"}}";
    HttpResponse<String> answer =
        sidecar.post(CHAT, chat(image("a"), image("b"), image("a"), sound), ENCODERS, both());

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(first.requests())
        .extracting(asked -> body(asked).at("/messages/0/content/0/type").asText())
        .containsExactlyInAnyOrder("image_url", "input_audio");
    assertThat(second.requests())
        .extracting(asked -> body(asked).at("/messages/0/content/0/image_url/url").asText())
        .containsExactly("b");
  }

  @Test
  void encoder_getsTheBodyWithOneItem_andALimitOfOneToken() {
    String json =
        chat(image("a"))
            .replace("{\"model\"", "{\"max_completion_tokens\":7,\"stream_options\":{},\"model\"");

    sidecar.post(CHAT + "?q=1", json, ENCODERS, first.authority());

    assertThat(first.onlyBody())
        .isEqualTo(
            ScriptedEngine.parse(
                "{\"max_completion_tokens\":1,\"model\":\"m\",\"max_tokens\":1,\"stream\":false,"
                    + "\"messages\":[{\"role\":\"user\",\"content\":["
                    + image("a")
                    + "]}]}"));
    assertThat(first.requests().getFirst().getUrl()).isEqualTo(CHAT);
  }

  @Test
  void maxCompletionTokens_isNotAdded_ifTheClientDidNotSendIt() {
    sidecar.post(CHAT, chat(image("a")), ENCODERS, first.authority());

    assertThat(first.onlyBody().has("max_completion_tokens")).isFalse();
  }

  @Test
  void encoder_getsNoneOfTheClientsHeaders() {
    sidecar.post(
        CHAT,
        chat(image("a"), image("b")),
        ENCODERS,
        first.authority(),
        "authorization",
        "Bearer x",
        "x-request-id",
        "mine");

    List<String> ids =
        first.requests().stream().map(asked -> asked.getHeader("x-request-id")).sorted().toList();
    assertThat(ids.getFirst()).endsWith("-enc-0");
    assertThat(ids.getLast()).isEqualTo(ids.getFirst().replace("-enc-0", "-enc-1"));
    assertThat(first.requests().getFirst().getAllHeaderKeys())
        .map(String::toLowerCase)
        .containsExactlyInAnyOrder(
            "host", "content-type", "content-length", "x-request-id", "traceparent");
  }

  @Test
  void nextStage_getsTheIdAfterTheClients_andNoThreshold() {
    sidecar.post(CHAT, chat(image("a")), ENCODERS, first.authority(), "x-request-id", "mine");

    String id = first.requests().getFirst().getHeader("x-request-id").replace("-enc-0", "");
    assertThat(decoder.requests().getFirst().header("x-request-id").values())
        .containsExactly("mine", id);
    assertThat(decoder.onlyBody().get("cache_hit_threshold").asInt(-1)).isZero();
    assertThat(decoder.onlyBody().at("/messages/0/content")).hasSize(2);
  }

  @Test
  void nixl_mergesTheEncodersParams_andAcceptsResponsesWithoutParams() {
    first.answer(ScriptedEngine.json(200, "{\"ec_transfer_params\":{\"a\":{\"x\":1},\"c\":1}}"));
    second.answer(ScriptedEngine.json(200, "{\"ec_transfer_params\":{\"b\":[2],\"c\":2}}"));
    sidecar.post(CHAT, chat(image("a"), image("b")), ENCODERS, both());

    assertThat(decoder.onlyBody().get("ec_transfer_params"))
        .isEqualTo(ScriptedEngine.parse("{\"a\":{\"x\":1},\"b\":[2],\"c\":2}"));

    second.answer(ScriptedEngine.json(200, "not JSON"));
    sidecar.post(CHAT, chat(image("a"), image("b")), ENCODERS, both());

    assertThat(body(decoder.requests().getLast()).get("ec_transfer_params"))
        .isEqualTo(ScriptedEngine.parse("{\"a\":{\"x\":1},\"c\":1}"));
  }

  @Test
  void example_ignoresTheEncodersResponses() {
    first.answer(ScriptedEngine.json(200, "{\"ec_transfer_params\":{\"a\":1}}"));
    try (SidecarRig example = sidecar("--ec-connector=ec-example")) {
      example.post(CHAT, chat(image("a")), ENCODERS, first.authority());
    }
    assertThat(decoder.onlyBody().has("ec_transfer_params")).isFalse();
  }

  @Test
  void firstFailure_cancelsTheOtherCalls_andIs502() {
    try (FakeEngine slow =
        FakeEngine.builder().script(EngineScript.builder().stallAfterTokens(0).build()).start()) {
      first.answer(ScriptedEngine.json(500, "{\"secret\":1}").withFixedDelay(200));

      HttpResponse<String> answer =
          sidecar.post(
              CHAT,
              chat(image("a"), image("b")),
              ENCODERS,
              slow.authority() + "," + first.authority());

      assertThat(answer.statusCode()).isEqualTo(502);
      assertThat(answer.body()).isEmpty();
      assertThat(slow.requests().getFirst().awaitEnd(PATIENCE)).isEqualTo(Outcome.CLIENT_GONE);
      assertThat(decoder.requests()).isEmpty();
      List<SpanRecord> spans = tracing.awaitSpans(4, PATIENCE);
      assertThat(SidecarRig.only(spans, "forward_request").isError()).isTrue();
    }
  }

  @Test
  void unreachableEncoder_is502() {
    HttpResponse<String> answer =
        sidecar.post(CHAT, chat(image("a")), ENCODERS, "127.0.0.1:" + FreePort.next());

    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(decoder.requests()).isEmpty();
  }

  @Test
  void disconnectedClient_cancelsTheEncoders() {
    try (FakeEngine slow =
        FakeEngine.builder().script(EngineScript.builder().stallAfterTokens(0).build()).start()) {
      var waiting =
          sidecar
              .client()
              .sendAsync(
                  sidecar
                      .request(CHAT, ENCODERS, slow.authority())
                      .POST(BodyPublishers.ofString(chat(image("a"))))
                      .build(),
                  BodyHandlers.ofString());
      EngineRequest held = slow.awaitRequests(1, PATIENCE).getFirst();

      waiting.cancel(true);

      assertThat(held.awaitEnd(PATIENCE)).isEqualTo(Outcome.CLIENT_GONE);
      tracing.awaitSpans(3, PATIENCE);
      assertThat(decoder.requests()).isEmpty();
    }
  }

  @Test
  void manyItems_areAllEncoded() {
    try (FakeEngine encoder = FakeEngine.start()) {
      String[] items = IntStream.range(0, 300).mapToObj(i -> image("u" + i)).toArray(String[]::new);

      HttpResponse<String> answer = sidecar.post(CHAT, chat(items), ENCODERS, encoder.authority());

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(encoder.requests())
          .extracting(asked -> String.valueOf(asked.header("x-request-id")))
          .extracting(id -> id.replaceAll(".*-enc-", ""))
          .containsExactlyInAnyOrderElementsOf(
              IntStream.range(0, 300).mapToObj(Integer::toString).toList());
    }
  }

  @Test
  void eachCall_isAClientSpanOfTheRequest() {
    sidecar.post(CHAT, chat(image("a"), image("b")), ENCODERS, both());

    List<SpanRecord> spans = tracing.awaitSpans(6, PATIENCE);
    SpanRecord request = SidecarRig.only(spans, "forward_request");
    List<SpanRecord> calls =
        spans.stream()
            .filter(
                span ->
                    span.name().equals("HTTP POST") && span.parentSpanId().equals(request.spanId()))
            .toList();
    assertThat(calls).hasSize(2);
    String sent = first.requests().getFirst().getHeader("traceparent");
    assertThat(calls.stream().map(SpanRecord::spanId).collect(Collectors.toSet()))
        .contains(sent.split("-", -1)[2]);
  }

  @Test
  void withoutEncodeConnector_headerIsIgnored_andRemoved() {
    try (SidecarRig none = sidecar()) {
      none.post(CHAT, chat(image("a")), ENCODERS, both());
    }
    assertThat(first.requests()).isEmpty();
    assertThat(decoder.requests().getFirst().containsHeader(ENCODERS)).isFalse();
  }

  @Test
  void encodersOnly_encodeThenDecode() {
    sidecar.post(CHAT, chat(image("a")), ENCODERS, both());

    assertThat(first.requests()).hasSize(1);
    assertThat(decoder.requests()).hasSize(1);
    assertThat(first.requests().getFirst().containsHeader(ENCODERS)).isFalse();
    assertThat(decoder.requests().getFirst().containsHeader(ENCODERS)).isFalse();
  }

  @Test
  void encodersAndPrefill_encodeThenPrefillThenDecode() {
    sidecar.post(
        CHAT, chat(image("a")), ENCODERS, both(), "x-prefiller-host-port", prefiller.authority());

    assertThat(first.requests()).hasSize(1);
    assertThat(prefiller.onlyBody().get("cache_hit_threshold").asInt(-1)).isZero();
    String id = first.requests().getFirst().getHeader("x-request-id").replace("-enc-0", "");
    for (ScriptedEngine engine : List.of(prefiller, decoder)) {
      assertThat(engine.requests()).hasSize(1);
      assertThat(engine.requests().getFirst().header("x-request-id").values()).containsExactly(id);
    }
  }

  @Test
  void onlyAllowedEncoders_areUsed() {
    try (SidecarRig guarded = guarded()) {
      guarded.post(
          CHAT,
          chat(image("a"), image("b")),
          ENCODERS,
          "10.9.9.9:1," + first.authority() + ",10.9.9.8:1");
    }
    assertThat(first.requests()).hasSize(2);
  }

  private SidecarRig guarded() {
    return sidecar(
        "--ec-connector=ec-nixl", "--enable-ssrf-protection", "--allow-target=127.0.0.1");
  }

  @Test
  void noAllowedEncoder_isDecodeOnly() {
    try (SidecarRig guarded = guarded()) {
      guarded.post(CHAT, chat(image("a")), ENCODERS, "10.9.9.9:1");
    }
    assertThat(decoder.onlyBody().has("cache_hit_threshold")).isFalse();
  }

  @Test
  void noAllowedEncoder_isPrefillAndDecode() {
    try (SidecarRig guarded = guarded()) {
      guarded.post(
          CHAT,
          chat(image("a")),
          ENCODERS,
          "10.9.9.9:1",
          "x-prefiller-host-port",
          prefiller.authority());
    }
    assertThat(prefiller.onlyBody().has("cache_hit_threshold")).isFalse();
    assertThat(decoder.requests()).hasSize(1);
  }

  @Test
  void severalHeaderLines_areOneEncoderEach() {
    sidecar.post(
        CHAT,
        chat(image("a"), image("b")),
        ENCODERS,
        first.authority(),
        ENCODERS,
        " " + second.authority() + " ");

    assertThat(first.requests()).hasSize(1);
    assertThat(second.requests()).hasSize(1);
  }

  @Test
  void requestWithoutItems_hasNoEncodeStage() {
    sidecar.post(CHAT, "{\"messages\":[]}", ENCODERS, both());

    assertThat(first.requests()).isEmpty();
    assertThat(decoder.onlyBody()).isEqualTo(ScriptedEngine.parse("{\"messages\":[]}"));
  }

  @Test
  void duplicates_areDetectedByUrl_inAnySpelling() {
    sidecar.post(CHAT, chat(image("a/b"), image("a\\/b")), ENCODERS, first.authority());

    assertThat(first.requests()).hasSize(1);
  }
}
