package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code nixlv2} in WRITE mode, with prefill before decode. */
@ExtendWith(Cleanliness.class)
final class WriteModeTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String PARAMS = "kv_transfer_params";

  private final ScriptedEngine prefiller =
      ScriptedEngine.answering("{\"kv_transfer_params\":{\"remote_block_ids\":[1]}}");
  private final ScriptedEngine decoder = ScriptedEngine.answering("{\"id\":\"decoded\"}");

  @AfterEach
  void stop() {
    prefiller.close();
    decoder.close();
  }

  private SidecarRig write(String... flags) {
    return SidecarRig.before(decoder.port())
        .env("POD_IP", "10.1.2.3")
        .with("--moriio-write-mode")
        .with(flags)
        .start();
  }

  private HttpResponse<String> post(SidecarRig sidecar, String... headers) {
    String[] all = new String[headers.length + 2];
    all[0] = PREFILLER;
    all[1] = prefiller.authority();
    System.arraycopy(headers, 0, all, 2, headers.length);
    return sidecar.post(CHAT, "{\"max_tokens\":50,\"n\":9007199254740993}", all);
  }

  private static String lastId(ScriptedEngine engine) {
    return last(engine).header("x-request-id").values().getLast();
  }

  private static LoggedRequest last(ScriptedEngine engine) {
    return engine.requests().getLast();
  }

  private static JsonNode params(ScriptedEngine engine) {
    return ScriptedEngine.parse(last(engine).getBodyAsString()).get(PARAMS);
  }

  @Test
  void prefill_getsTheDecodersAddress() {
    try (SidecarRig sidecar =
        write("--moriio-decode-notify-port=1001", "--moriio-decode-handshake-port=1002")) {
      assertThat(post(sidecar).statusCode()).isEqualTo(200);
    }

    String id = lastId(prefiller);
    assertThat(params(prefiller))
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,
                 "remote_block_ids":null,"remote_host":"10.1.2.3","remote_port":null,
                 "remote_notify_port":1001,"remote_dp_rank":0,"remote_dp_rank_override":true,
                 "remote_handshake_port":1002,"transfer_id":"tx%s","tp_size":1,
                 "remote_dp_size":1}\
                """
                    .formatted(id)));
    assertThat(last(prefiller).getBodyAsString())
        .contains("\"max_tokens\":1,\"n\":9007199254740993");
    assertThat(last(prefiller).containsHeader("x-data-parallel-rank")).isFalse();
  }

  @Test
  void missingParamsOfPrefill_areAdded() {
    prefiller.answer(
        ScriptedEngine.json(
            200,
            """
            {"kv_transfer_params":{"do_remote_prefill":true,"remote_block_ids":[1,2],
             "remote_host":"ahost","remote_notify_port":7,"big":9007199254740993}}\
            """));
    try (SidecarRig sidecar = write("--moriio-tp-size=2")) {
      post(sidecar);
    }

    assertThat(params(decoder))
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"do_remote_prefill":true,"remote_block_ids":[1,2],"remote_host":"ahost",
                 "remote_notify_port":7,"big":9007199254740993,"remote_dp_rank":0,
                 "remote_dp_rank_override":true,"remote_handshake_port":6301,
                 "transfer_id":"tx%s","tp_size":2,"remote_dp_size":1}\
                """
                    .formatted(lastId(prefiller))));
  }

  @Test
  void multiPodEngines_getEachOthersHosts() {
    try (SidecarRig sidecar =
        write(
            "--moriio-dp-size=4",
            "--moriio-dp-size-local=2",
            "--moriio-decode-hosts=d0,d1",
            "--moriio-remote-hosts=p0,p1")) {
      post(sidecar);
    }

    int rank = WriteTransfer.rank(lastId(prefiller), 4);
    assertThat(params(prefiller).get("remote_hosts"))
        .isEqualTo(ScriptedEngine.parse("[\"d0\",\"d1\"]"));
    assertThat(params(decoder).get("remote_hosts"))
        .isEqualTo(ScriptedEngine.parse("[\"p0\",\"p1\"]"));
    for (ScriptedEngine engine : List.of(prefiller, decoder)) {
      assertThat(params(engine).get("remote_dp_size").intValue()).isEqualTo(4);
      assertThat(params(engine).get("remote_dp_size_local").intValue()).isEqualTo(2);
      assertThat(params(engine).get("remote_dp_rank").intValue()).isEqualTo(rank);
      assertThat(last(engine).header("x-data-parallel-rank").values())
          .containsExactly(Integer.toString(rank % 2));
    }
  }

  @Test
  void rankHeader_replacesTheClients() {
    try (SidecarRig sidecar = write("--moriio-dp-size=8")) {
      post(sidecar, "x-data-parallel-rank", "99", "x-request-id", "mine");
    }

    String rank = Integer.toString(WriteTransfer.rank(lastId(prefiller), 8));
    for (ScriptedEngine engine : List.of(prefiller, decoder)) {
      assertThat(last(engine).header("x-data-parallel-rank").values()).containsExactly(rank);
      assertThat(last(engine).header("x-request-id").values())
          .containsExactly("mine", lastId(prefiller));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "7", "0"})
  void rankThatPrefillReturns_isKept(String returned) {
    answerRank(returned);
    try (SidecarRig sidecar = write("--moriio-dp-size=8")) {
      post(sidecar);
    }

    assertThat(params(decoder).get("remote_dp_rank").toString()).isEqualTo(returned);
    assertThat(params(decoder).get("remote_dp_rank_override").booleanValue()).isTrue();
    assertThat(last(decoder).header("x-data-parallel-rank").values())
        .as("decode follows prefill")
        .containsExactly(returned);
  }

  @ParameterizedTest
  @ValueSource(strings = {"8", "-1", "\"3\"", "null", "1e99", "2.5"})
  void rankThatDoesNotExist_isReplacedByTheHash(String returned) {
    answerRank(returned);
    try (SidecarRig sidecar = write("--moriio-dp-size=8")) {
      post(sidecar);
    }

    assertThat(params(decoder).get("remote_dp_rank").intValue())
        .isEqualTo(WriteTransfer.rank(lastId(prefiller), 8));
    assertThat(params(decoder).get("remote_dp_rank_override").booleanValue()).isTrue();
  }

  private void answerRank(String rank) {
    prefiller.answer(
        ScriptedEngine.json(
            200,
            "{\"kv_transfer_params\":{\"remote_dp_rank\":%s,\"remote_dp_rank_override\":false}}"
                .formatted(rank)));
  }

  @Test
  void prefillResponseWithoutParams_leavesThemNull() {
    prefiller.answer(ScriptedEngine.json(200, "{}"));
    try (SidecarRig sidecar = write()) {
      post(sidecar);
    }

    assertThat(params(decoder).isNull()).isTrue();
  }

  @Test
  void pullParameters_areWrittenInAddition() {
    try (SidecarRig sidecar = write("--enable-p2p-pull")) {
      post(sidecar, "x-kv-cache-source-host-port", "10.9.9.9:1");
    }

    assertThat(params(prefiller).at("/remote_kv_source/remote_host").textValue())
        .isEqualTo("10.9.9.9");
    assertThat(params(prefiller).get("remote_host").textValue()).isEqualTo("10.1.2.3");
  }
}
