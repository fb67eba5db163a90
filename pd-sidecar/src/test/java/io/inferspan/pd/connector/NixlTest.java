package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class NixlTest {
  private static final String PREFILLED =
      """
      {"kv_transfer_params":{"remote_block_ids":[1,2,3],"remote_engine_id":"5b5fb28f",\
      "remote_host":"ahost","remote_port":4032},\
      "usage":{"prompt_tokens_details":{"cached_tokens":7}}}\
      """;

  private final ScriptedEngine prefiller = ScriptedEngine.answering(PREFILLED);
  private final ScriptedEngine decoder =
      ScriptedEngine.answering(
          "{\"usage\":{\"prompt_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":49}}}");
  private final SidecarRig sidecar = SidecarRig.before(decoder.port()).start();

  @AfterEach
  void stop() {
    sidecar.close();
    prefiller.close();
    decoder.close();
  }

  @Test
  void prefillRequestsBlocks_andDecodeGetsItsParamsVerbatim() {
    HttpResponse<String> answer =
        sidecar.post(
            "/v1/chat/completions",
            "{\"model\":\"m\",\"max_tokens\":50}",
            "x-prefiller-host-port",
            prefiller.authority());

    assertThat(answer.statusCode()).isEqualTo(200);
    JsonNode asked = prefiller.onlyBody().get("kv_transfer_params");
    assertThat(asked)
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,
                 "remote_block_ids":null,"remote_host":null,"remote_port":null}\
                """));
    assertThat(decoder.onlyBody().get("kv_transfer_params"))
        .isEqualTo(ScriptedEngine.parse(PREFILLED).get("kv_transfer_params"));
  }
}
