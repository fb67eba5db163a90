package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Cleanliness.class)
final class NixlPullTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String SOURCE = "x-kv-cache-source-host-port";

  private final ScriptedEngine prefiller = ScriptedEngine.answering("{}");
  private final ScriptedEngine decoder = ScriptedEngine.answering("{}");
  private final int port = FreePort.next();

  @AfterEach
  void stop() {
    prefiller.close();
    decoder.close();
  }

  private SidecarRig nixl(String... flags) {
    return SidecarRig.before(decoder.port())
        .with("--port=" + port, "--p2p-connector-port=7000")
        .with(flags)
        .env("POD_IP", "10.1.2.3")
        .start();
  }

  @Test
  void source_isAddedToPrefillsParams() {
    try (SidecarRig sidecar = nixl("--enable-p2p-pull")) {
      sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority(), SOURCE, "[fd00::1]:" + port);
    }

    JsonNode params = prefiller.onlyBody().get("kv_transfer_params");
    String id = params.at("/remote_kv_source/kv_request_id").textValue();
    assertThat(params)
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,
                 "remote_block_ids":null,"remote_host":null,"remote_port":null,
                 "remote_kv_source":{"kv_request_id":"%s","remote_host":"fd00::1",
                 "remote_port":7000}}\
                """
                    .formatted(id)));
    assertThat(decoder.onlyBody().get("kv_transfer_params").isNull()).isTrue();
  }

  @Test
  void withoutTheFlag_sourceIsIgnored() {
    try (SidecarRig sidecar = nixl()) {
      sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority(), SOURCE, "10.9.9.9:" + port);
      sidecar.post(CHAT, "{\"x\":1}", SOURCE, "10.9.9.9:" + port);
    }

    assertThat(prefiller.onlyBody().at("/kv_transfer_params/remote_kv_source").isMissingNode())
        .isTrue();
    assertThat(decoder.requests().getLast().getBodyAsString()).isEqualTo("{\"x\":1}");
    assertThat(decoder.requests().getLast().containsHeader(SOURCE)).isFalse();
  }

  @Test
  void decodeOnly_alsoPulls() {
    try (SidecarRig sidecar = nixl("--enable-p2p-pull")) {
      sidecar.post(CHAT, "{\"x\":1}", SOURCE, "10.9.9.9:" + port);
    }

    assertThat(decoder.onlyBody().at("/kv_transfer_params/remote_kv_source/remote_port").intValue())
        .isEqualTo(7000);
  }
}
