package io.inferspan.pd.connector;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.tomakehurst.wiremock.http.Fault;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(Cleanliness.class)
final class MooncakeTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final Duration LIMIT = Duration.ofSeconds(5);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final ScriptedEngine bootstrap =
      ScriptedEngine.answering("{\"0\":{\"engine_id\":\"engine-0\"}}");
  private final FakeEngine prefiller = FakeEngine.start();
  private final ScriptedEngine decoder = ScriptedEngine.answering("{\"id\":\"decoded\"}");
  private final SidecarRig sidecar =
      SidecarRig.before(decoder.port())
          .with("--kv-connector=mooncake", "--mooncake-bootstrap-port=" + bootstrap.port())
          .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
          .start();

  @AfterEach
  void stop() {
    sidecar.close();
    bootstrap.close();
    prefiller.close();
    decoder.close();
  }

  private HttpResponse<String> post(String body, String... headers) {
    return sidecar.post(CHAT, body, withPrefiller(headers));
  }

  private String[] withPrefiller(String... headers) {
    String[] all = new String[headers.length + 2];
    all[0] = "x-prefiller-host-port";
    all[1] = prefiller.authority();
    System.arraycopy(headers, 0, all, 2, headers.length);
    return all;
  }

  private JsonNode prefillBody(int index) {
    return ScriptedEngine.parse(prefiller.awaitRequests(index + 1, LIMIT).get(index).bodyText());
  }

  private JsonNode decodeBody(int index) {
    return ScriptedEngine.parse(decoder.requests().get(index).getBodyAsString());
  }

  @Test
  void bothStages_getTheSameTransferId() {
    HttpResponse<String> answer =
        post("{\"model\":\"m\",\"max_tokens\":50,\"stream_options\":{\"include_usage\":true}}");

    assertThat(answer.body()).isEqualTo("{\"id\":\"decoded\"}");
    JsonNode prefill = prefillBody(0);
    String transferId = prefill.at("/kv_transfer_params/transfer_id").textValue();
    assertThat(transferId).matches("xfer-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    assertThat(prefill)
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"model":"m","max_tokens":1,"stream":false,"kv_transfer_params":{
                 "do_remote_prefill":false,"do_remote_decode":true,"transfer_id":"%s"}}\
                """
                    .formatted(transferId)));
    assertThat(decodeBody(0))
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"model":"m","max_tokens":50,"stream_options":{"include_usage":true},
                 "kv_transfer_params":{"do_remote_prefill":true,"do_remote_decode":false,
                 "transfer_id":"%s","remote_bootstrap_addr":"http://127.0.0.1:%d",
                 "remote_engine_id":"engine-0"}}\
                """
                    .formatted(transferId, bootstrap.port())));
  }

  @Test
  void maxCompletionTokens_isLimited_ifTheClientSentIt() {
    post("{\"max_completion_tokens\":50,\"n\":9007199254740993,\"x\":1,\"x\":2}");

    prefillBody(0);
    assertThat(prefiller.requests().getFirst().bodyText())
        .contains("\"max_completion_tokens\":1,")
        .contains("\"n\":9007199254740993,\"x\":1,\"x\":2")
        .contains("\"max_tokens\":1");
  }

  @Test
  void bootstrapServer_isQueriedOnce_withoutSpan() {
    post("{}");
    post("{}");

    assertThat(decoder.requests()).hasSize(2);
    List<LoggedRequest> asked = bootstrap.requests();
    assertThat(asked).hasSize(1);
    assertThat(asked.getFirst().getMethod().value()).isEqualTo("GET");
    assertThat(asked.getFirst().getUrl()).isEqualTo("/query");
    assertThat(asked.getFirst().containsHeader("traceparent")).isFalse();
  }

  @Test
  void rankHeader_selectsTheEngineThatDecodeReadsFrom() {
    bootstrap.answer(
        ScriptedEngine.json(
            200,
            """
            {"0":{"engine_id":"engine-0"},"1":{"engine_id":"engine-1"},"2":{"other":1},
             "3\\r\\nx":{"engine_id":"engine-3"}}\
            """));
    for (int i = 0; i < 12; i++) {
      post("{}", "x-data-parallel-rank", "7");
    }

    for (int i = 0; i < 12; i++) {
      String transferId = prefillBody(i).at("/kv_transfer_params/transfer_id").textValue();
      EngineRequest prefill = prefiller.requests().get(i);
      assertThat(prefill.headers("X-data-parallel-rank")).hasSize(1);
      assertThat(engineOf(transferId))
          .isEqualTo("engine-" + prefill.header("x-data-parallel-rank"));
    }
    assertThat(decoder.requests())
        .extracting(asked -> decodedFrom(asked))
        .contains("engine-0", "engine-1");
  }

  private String engineOf(String transferId) {
    return decoder.requests().stream()
        .filter(asked -> asked.getBodyAsString().contains(transferId))
        .map(MooncakeTest::decodedFrom)
        .findFirst()
        .orElseThrow();
  }

  private static String decodedFrom(LoggedRequest asked) {
    return ScriptedEngine.parse(asked.getBodyAsString())
        .at("/kv_transfer_params/remote_engine_id")
        .textValue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{}", "{\"0\":{}}", "{\"0\":{\"engine_id\":\"\"}}", "[]", "nothing", "{\"0\":1}"})
  void bootstrapResponseWithoutEngine_is502(String answered) {
    bootstrap.answer(ScriptedEngine.json(200, answered));

    assertBadGateway(post("{}"));
  }

  @Test
  void failedQuery_is502_andIsRepeatedByTheNextRequest() {
    bootstrap.answer(ScriptedEngine.json(500, "{\"0\":{\"engine_id\":\"engine-0\"}}"));
    assertBadGateway(post("{}"));
    bootstrap.answer(aResponse().withFault(Fault.CONNECTION_RESET_BY_PEER));
    assertBadGateway(post("{}"));
    bootstrap.answer(ScriptedEngine.json(200, "{\"0\":{\"engine_id\":\"engine-0\"}}"));

    assertThat(post("{}").statusCode()).isEqualTo(200);
  }

  private void assertBadGateway(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).isEqualTo(502);
    JsonNode error = ScriptedEngine.parse(answer.body());
    assertThat(error.get("type").textValue()).isEqualTo("BadGateway");
    assertThat(error.get("code").intValue()).isEqualTo(502);
    assertThat(error.get("object").textValue()).isEqualTo("error");
    assertThat(decoder.requests()).isEmpty();
    assertThat(prefiller.requests()).isEmpty();
  }

  @Test
  void hangingPrefill_doesNotDelayDecode() {
    prefiller.script(EngineScript.builder().queue(Duration.ofHours(1)).build());

    assertThat(post("{}").body()).isEqualTo("{\"id\":\"decoded\"}");
    EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
    assertThat(prefill.outcome()).isEqualTo(EngineRequest.Outcome.RUNNING);
  }

  @Test
  void engineIdIsQueriedAgain_afterAFailure() {
    prefiller.script(EngineScript.builder().failWith(503, "starting").build());
    post("{}");
    tracing.awaitSpans(6, LIMIT);

    post("{}");

    assertThat(bootstrap.requests()).hasSize(2);
  }
}
