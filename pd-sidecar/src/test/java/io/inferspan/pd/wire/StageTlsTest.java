package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.WireTest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that TLS to engines is configured per stage. */
final class StageTlsTest extends WireTest {
  private static final List<String> STAGES = List.of("prefiller", "decoder", "encoder");
  private static final String WITH_IMAGE =
      "{\"messages\":[{\"role\":\"user\",\"content\":["
          + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,x\"}}]}]}";

  private static String without(String stage) {
    return STAGES.stream().filter(name -> !name.equals(stage)).collect(Collectors.joining(","));
  }

  private ScriptedEngine engine(boolean secure) {
    return closing(secure ? ScriptedEngine.securely("{}") : ScriptedEngine.answering("{}"));
  }

  private static HttpResponse<String> post(
      SidecarRig sidecar, ScriptedEngine prefiller, ScriptedEngine encoder) {
    return sidecar.post(
        "/v1/chat/completions",
        WITH_IMAGE,
        "x-prefiller-host-port",
        prefiller.authority(),
        "x-encoder-hosts-ports",
        encoder.authority());
  }

  @ParameterizedTest
  @ValueSource(strings = {"prefiller", "decoder", "encoder"})
  void onlyTheConfiguredStage_isCalledOverTls(String stage) {
    ScriptedEngine prefiller = engine(stage.equals("prefiller"));
    ScriptedEngine decoder = engine(stage.equals("decoder"));
    ScriptedEngine encoder = engine(stage.equals("encoder"));
    SidecarRig sidecar =
        before(
            decoder.port(),
            "--ec-connector=ec-example",
            "--enable-tls=" + stage,
            "--tls-insecure-skip-verify=" + stage);

    assertThat(post(sidecar, prefiller, encoder).statusCode()).isEqualTo(200);
    assertThat(List.of(prefiller, decoder, encoder))
        .allSatisfy(engine -> assertThat(engine.requests()).hasSize(1));
  }

  @Test
  void unreadableCaFile_preventsTheStart_ifAStageNeedsIt() {
    SidecarRig.Builder checked =
        SidecarRig.before(1).with("--enable-tls=decoder", "--tls-ca-file=/absent.pem");
    assertThatThrownBy(checked::start)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("/absent.pem");

    before(1, "--tls-ca-file=/absent.pem");
    before(
        1,
        "--enable-tls=decoder",
        "--tls-insecure-skip-verify=decoder",
        "--tls-ca-file=/absent.pem");
  }

  @ParameterizedTest
  @ValueSource(strings = {"prefiller", "decoder", "encoder"})
  void stageWithUntrustedCertificate_isNotCalled(String stage) {
    ScriptedEngine prefiller = engine(true);
    ScriptedEngine decoder = engine(true);
    ScriptedEngine encoder = engine(true);
    SidecarRig sidecar =
        before(
            decoder.port(),
            "--ec-connector=ec-example",
            "--enable-tls=" + String.join(",", STAGES),
            "--tls-insecure-skip-verify=" + without(stage));

    assertThat(post(sidecar, prefiller, encoder).statusCode()).isEqualTo(502);
    int asked = List.of("encoder", "prefiller", "decoder").indexOf(stage);
    assertThat(
            List.of(encoder, prefiller, decoder).stream().map(engine -> engine.requests().size()))
        .containsExactly(asked > 0 ? 1 : 0, asked > 1 ? 1 : 0, 0);
  }
}
