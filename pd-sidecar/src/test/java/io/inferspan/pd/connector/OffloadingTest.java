package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(Cleanliness.class)
final class OffloadingTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String SOURCE = "x-kv-cache-source-host-port";
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

  private final FakeEngine prefiller = FakeEngine.start();
  private final ScriptedEngine decoder = ScriptedEngine.answering("{\"id\":\"decoded\"}");
  private final int port = FreePort.next();
  private final SidecarRig sidecar =
      SidecarRig.before(decoder.port())
          .with("--kv-connector=offloading", "--port=" + port)
          .env("POD_IP", "10.1.2.3")
          .start();

  @AfterEach
  void stop() {
    sidecar.close();
    prefiller.close();
    decoder.close();
  }

  private JsonNode prefillParams() {
    String body = prefiller.awaitRequests(1, LIMIT).getFirst().bodyText();
    return ScriptedEngine.parse(body).get("kv_transfer_params");
  }

  @Test
  void eachStage_getsTheOthersAddress_withTheSameId() {
    HttpResponse<String> answer =
        sidecar.post(
            CHAT,
            "{\"model\":\"m\",\"max_tokens\":50,\"seed\":9007199254740993,\"x\":1,\"x\":2,"
                + "\"stream\":false,\"kv_transfer_params\":{\"mine\":1}}",
            PREFILLER,
            prefiller.authority());

    assertThat(answer.body()).isEqualTo("{\"id\":\"decoded\"}");
    String id = prefillParams().at("/remote_decoder/kv_request_id").textValue();
    assertThat(id).matches(UUID);
    assertThat(prefiller.requests().getFirst().bodyText())
        .isEqualTo(
            "{\"model\":\"m\",\"max_tokens\":1,\"seed\":9007199254740993,\"x\":1,\"x\":2,"
                + "\"stream\":false,\"kv_transfer_params\":"
                + "{\"remote_decoder\":{\"kv_request_id\":\""
                + id
                + "\"}}}");
    assertThat(decoder.requests().getFirst().getBodyAsString())
        .isEqualTo(
            "{\"model\":\"m\",\"max_tokens\":50,\"seed\":9007199254740993,\"x\":1,\"x\":2,"
                + "\"stream\":false,\"kv_transfer_params\":"
                + "{\"remote_prefiller\":{\"kv_request_id\":\""
                + id
                + "\","
                + "\"remote_host\":\"127.0.0.1\",\"remote_port\":7777}}}");
  }

  @Test
  void sourceOnAnotherPod_isPulledFrom() {
    sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority(), SOURCE, "http://10.9.9.9:" + port);

    JsonNode params = prefillParams();
    JsonNode source = params.get("remote_kv_source");
    assertThat(source.get("remote_host").textValue()).isEqualTo("10.9.9.9");
    assertThat(source.get("remote_port").intValue()).isEqualTo(7777);
    assertThat(source.get("kv_request_id").textValue())
        .matches(UUID)
        .isNotEqualTo(params.at("/remote_decoder/kv_request_id").textValue());
    assertThat(decoder.onlyBody().at("/kv_transfer_params/remote_kv_source").isMissingNode())
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"%s", "http://%s", " %s "})
  void sourceThatIsThePrefillTarget_isIgnored(String form) {
    sidecar.post(
        CHAT,
        "{}",
        PREFILLER,
        prefiller.authority(),
        SOURCE,
        form.formatted(prefiller.authority()));

    assertThat(prefillParams().has("remote_kv_source")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.9.9.9", "10.9.9.9:no", ""})
  void sourceThatIsNotAnAddress_isIgnored(String source) {
    sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority(), SOURCE, source);

    assertThat(prefillParams().has("remote_kv_source")).isFalse();
  }

  @Test
  void decodeOnly_alsoPulls() {
    sidecar.post(CHAT, "{\"kv_transfer_params\":{\"mine\":1},\"x\":2}", SOURCE, "10.9.9.9:" + port);

    JsonNode body = decoder.onlyBody();
    JsonNode source = body.at("/kv_transfer_params/remote_kv_source");
    assertThat(body)
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"kv_transfer_params":{"remote_kv_source":{"kv_request_id":"%s",
                 "remote_host":"10.9.9.9","remote_port":7777}},"x":2}\
                """
                    .formatted(source.get("kv_request_id").textValue())));
  }

  @Test
  void sourceThatIsThisRank_leavesTheBodyUnchanged() {
    String body = " {\"x\" : 1, \"x\":2.50,\"kv_transfer_params\":{\"mine\":1}} ";
    sidecar.post(CHAT, body, SOURCE, "10.1.2.3:" + port);

    assertThat(decoder.requests().getFirst().getBodyAsString()).isEqualTo(body);
  }

  @Test
  void hangingOrFailedPrefill_doesNotDelayDecode() {
    prefiller.enqueue(
        EngineScript.builder().queue(Duration.ofHours(1)).build(),
        EngineScript.builder().failWith(500, "broken").build());
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> answer = sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{\"id\":\"decoded\"}");
    }

    assertThat(prefiller.awaitRequests(2, LIMIT).getFirst().outcome())
        .isEqualTo(EngineRequest.Outcome.RUNNING);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/responses", "/inference/v1/generate"})
  void otherApis_areLimitedInTheirOwnMembers(String path) {
    sidecar.post(path, "{}", PREFILLER, prefiller.authority());

    JsonNode body = ScriptedEngine.parse(prefiller.awaitRequests(1, LIMIT).getFirst().bodyText());
    String cap = path.endsWith("responses") ? "/max_output_tokens" : "/sampling_params/max_tokens";
    assertThat(body.at(cap).intValue()).isEqualTo(1);
    assertThat(decoder.onlyBody().at(cap).isMissingNode()).isTrue();
  }
}
