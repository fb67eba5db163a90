package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests llm-d's own cases for {@code nixlv2}. */
final class NixlCasesTest extends WireTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLED =
      "{\"kv_transfer_params\":{\"remote_port\":4032},"
          + "\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}}";

  private final ScriptedEngine prefiller = closing(ScriptedEngine.answering(PREFILLED));
  private final ScriptedEngine decoder = closing(ScriptedEngine.answering("{}"));

  private HttpResponse<String> ask(String path, String body, String... flags) {
    return before(decoder.port(), flags)
        .post(path, body, "x-prefiller-host-port", prefiller.authority());
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, max_tokens",
    "/v1/chat/completions, max_completion_tokens",
    "/v1/completions, min_tokens",
    "/v1/messages, max_tokens",
    "/v1/responses, max_output_tokens",
  })
  void prefill_generatesOneToken_andDecodeKeepsTheClientsLimits(String path, String member) {
    ask(path, "{\"" + member + "\":50}");

    assertThat(prefiller.onlyBody().get(member).asInt()).isEqualTo(1);
    assertThat(decoder.onlyBody().get(member).asInt()).isEqualTo(50);
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, max_tokens",
    "/v1/completions, max_completion_tokens",
    "/v1/responses, max_output_tokens",
    "/inference/v1/generate, sampling_params",
  })
  void limitThatTheClientDidNotSet_isNotAddedToDecode(String path, String member) {
    ask(path, "{\"model\":\"m\"}");

    assertThat(prefiller.onlyBody().has(member)).isTrue();
    assertThat(decoder.onlyBody().has(member)).isFalse();
  }

  @Test
  void generateRequest_isLimitedInItsSamplingParams() {
    ask("/inference/v1/generate", "{\"sampling_params\":{\"max_tokens\":9,\"top_p\":0.5}}");

    JsonNode capped = prefiller.onlyBody().get("sampling_params");
    assertThat(capped.get("max_tokens").asInt()).isEqualTo(1);
    assertThat(capped.get("top_p").asDouble()).isEqualTo(0.5);
    assertThat(decoder.onlyBody().get("sampling_params"))
        .isEqualTo(ScriptedEngine.parse("{\"max_tokens\":9,\"top_p\":0.5}"));
  }

  @Test
  void prefill_neverStreams_andDecodeStreamsIfRequested() {
    ask(CHAT, "{\"stream\":true,\"stream_options\":{\"include_usage\":true}}");

    assertThat(prefiller.onlyBody().get("stream").asBoolean()).isFalse();
    assertThat(prefiller.onlyBody().has("stream_options")).isFalse();
    assertThat(decoder.onlyBody().get("stream").asBoolean()).isTrue();
    assertThat(decoder.onlyBody().get("stream_options"))
        .isEqualTo(ScriptedEngine.parse("{\"include_usage\":true}"));
  }

  @Test
  void bothStages_haveTheSameRequestId_afterTheClients() {
    before(decoder.port())
        .post(CHAT, "{}", "x-prefiller-host-port", prefiller.authority(), "x-request-id", "mine");

    List<String> prefill = prefiller.requests().getFirst().header("x-request-id").values();
    List<String> decode = decoder.requests().getFirst().header("x-request-id").values();
    assertThat(prefill).hasSize(2).first().isEqualTo("mine");
    assertThat(decode).isEqualTo(prefill);
    assertThat(java.util.UUID.fromString(prefill.get(1)).version()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'usage':{'prompt_tokens_details':{'cached_tokens':49},'a':1}}"
            + "|{'usage':{'prompt_tokens_details':{'cached_tokens':7},'a':1}}",
        "{'usage':{'prompt_tokens_details':null}}"
            + "|{'usage':{'prompt_tokens_details':{'cached_tokens':7}}}",
        "{'usage':{'a':1}}|{'usage':{'a':1,'prompt_tokens_details':{'cached_tokens':7}}}",
        "{'choices':[]}|{'choices':[]}",
      })
  void cachedTokens_areThoseOfPrefill(String answered, String delivered) {
    decoder.answer(ScriptedEngine.json(200, answered.replace('\'', '"')));

    assertThat(ScriptedEngine.parse(ask(CHAT, "{}").body()))
        .isEqualTo(ScriptedEngine.parse(delivered.replace('\'', '"')));
  }

  @Test
  void tooLongResponse_passesUnchanged() {
    String answer = "{\"usage\":{\"a\":\"" + "a".repeat(200_000) + "\"}}";
    decoder.answer(ScriptedEngine.json(200, answer));

    assertThat(ask(CHAT, "{}", "--body-limit=100000").body()).isEqualTo(answer);
  }

  @Test
  void prefillWithoutCachedTokens_countsAsZero() {
    prefiller.answer(ScriptedEngine.json(200, "{\"kv_transfer_params\":{}}"));
    decoder.answer(
        ScriptedEngine.json(200, "{\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":49}}}"));

    assertThat(ask(CHAT, "{}").body()).contains("\"cached_tokens\":0");
  }

  @Test
  void streamedUsage_isRewritten_forAnySplit() throws Exception {
    String stream =
        """
        : ping

        event: x
        data: {"a": 1}

        data: {"usage":{"prompt_tokens_details":{"cached_tokens":49}}}\r
        \r
        data: no json

        data: [DONE]

        """;
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(
                  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "
                      + stream.length()
                      + "\r\n\r\n");
              wire.trickle(stream);
              wire.rest();
            });
    Wire client =
        to(before(engine.port()))
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
                    + prefiller.authority()
                    + "\r\ncontent-length: 15\r\n\r\n{\"stream\":true}");

    Wire.Message answer = client.message();

    assertThat(answer.header("content-length")).isNull();
    assertThat(answer.body())
        .isEqualTo(stream.replace("\"cached_tokens\":49", "\"cached_tokens\":7"));
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 400, 404, 500, 502})
  void failedPrefill_isTheResponse_andDecodeIsNotCalled(int status) {
    prefiller.answer(ScriptedEngine.json(status, "why").withHeader("x-why", "because"));

    HttpResponse<String> answer = ask(CHAT, "{}");

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.body()).isEqualTo("why");
    assertThat(answer.headers().firstValue("x-why")).contains("because");
    assertThat(prefiller.requests()).hasSize(1);
    assertThat(decoder.requests()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"503 503 200, 200, 3", "500 200, 500, 1", "502 502 502 200, 502, 3"})
  void prefill_isRetried_onlyAfter502To504(String script, int status, int calls) throws Exception {
    List<String> statuses = List.of(script.split(" "));
    RawServer scripted =
        engine(
            (wire, server) -> {
              while (true) {
                server.request(wire);
                String next = statuses.get(server.heads().size() - 1);
                wire.send("HTTP/1.1 " + next + " X\r\ncontent-length: 2\r\n\r\n{}");
              }
            });

    HttpResponse<String> answer =
        before(decoder.port(), "--prefill-max-retries=2", "--prefill-retry-backoff=5ms")
            .post(CHAT, "{}", "x-prefiller-host-port", scripted.authority());

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(scripted.heads()).hasSize(calls);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no json", "[]"})
  void prefillResponseThatIsNotAnObject_is400(String body) {
    prefiller.answer(ScriptedEngine.json(200, body));

    HttpResponse<String> answer = ask(CHAT, "{}");

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(ScriptedEngine.parse(answer.body()).get("type").asText())
        .isEqualTo("BadRequestError");
    assertThat(decoder.requests()).isEmpty();
  }

  @Test
  void queryAndPath_areSentToBothStages() {
    ask(CHAT + "?a=b", "{}");

    assertThat(prefiller.requests().getFirst().getUrl()).isEqualTo(CHAT + "?a=b");
    assertThat(decoder.requests().getFirst().getUrl()).isEqualTo(CHAT + "?a=b");
  }

  @Test
  void bodyWithoutKvParamsFromPrefill_getsNull() {
    prefiller.answer(ScriptedEngine.json(200, "{}"));

    ask(CHAT, "{}");

    assertThat(decoder.onlyBody().get("kv_transfer_params").isNull()).isTrue();
  }
}
