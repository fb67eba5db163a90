package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.IOException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that stalled clients and engines release their memory. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class TimeLimitsIT extends WireTest {
  private static final String LARGE = "{\"p\":\"" + "p".repeat(700) + "\"}";

  private RawServer silent() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.rest();
        });
  }

  private static String head(RawServer prefiller, int length, String... headers) {
    return "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
        + prefiller.authority()
        + "\r\n"
        + String.join("", headers)
        + "content-length: "
        + length
        + "\r\n\r\n";
  }

  @ParameterizedTest
  @ValueSource(strings = {"--body-timeout=300ms", "--body-min-rate=20"})
  void stalledUpload_is408_andLeavesRoomForOthers(String limit) throws IOException {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar =
        before(engine.port(), limit, "--body-limit=1000", "--held-bodies-limit=1500");
    Wire stalled = to(sidecar).send(head(engine, LARGE.length()) + LARGE.substring(1));
    stalled.socket().setSoTimeout(15_000);

    Wire.Message answer = stalled.message();

    assertThat(answer.status()).isEqualTo(408);
    assertThat(answer.header("connection")).isEqualTo("close");
    assertThat(stalled.endsWithin(5000)).isTrue();
    assertThat(to(sidecar).send(head(engine, LARGE.length()) + LARGE).message().status())
        .isEqualTo(200);
  }

  @Test
  void slowUploadAboveTheMinimumRate_isServed() throws Exception {
    RawServer engine = engineAnswering(ok("{}"));
    Wire slow =
        to(before(engine.port(), "--body-min-rate=1"))
            .send(head(engine, LARGE.length()) + LARGE.substring(0, 600));
    for (int i = 600; i < LARGE.length(); i += 16) {
      Thread.sleep(900);
      slow.send(LARGE.substring(i, Math.min(i + 16, LARGE.length())));
    }

    assertThat(slow.message().status()).isEqualTo(200);
  }

  @Test
  void silentPrefill_is504() throws IOException {
    RawServer decoder = engineAnswering(ok("{}"));
    SidecarRig sidecar =
        before(decoder.port(), "--prefill-timeout=300ms", "--prefill-max-retries=5");
    RawServer prefiller = silent();

    Wire.Message answer = to(sidecar).send(head(prefiller, 2) + "{}").message();

    assertThat(answer.status()).isEqualTo(504);
    assertThat(answer.body()).contains("\"message\":\"the engine did not answer in time\"");
    assertThat(prefiller.heads()).hasSize(1);
    assertThat(decoder.heads()).isEmpty();
  }

  @Test
  void silentEncoder_is502() throws IOException {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar =
        before(engine.port(), "--prefill-timeout=300ms", "--ec-connector=ec-example");
    String body =
        "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]}]}";
    String encoders = "x-encoder-hosts-ports: " + silent().authority() + "\r\n";

    Wire.Message answer = to(sidecar).send(head(engine, body.length(), encoders) + body).message();

    assertThat(answer.status()).isEqualTo(502);
  }

  private static boolean isRefused(Wire client) throws IOException {
    try {
      return client.message().status() == 503;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  @Test
  void silentPod_leavesRoomForOthers() throws IOException {
    RawServer engine = engineAnswering(ok("{}"));
    RawServer silent = silent();
    SidecarRig sidecar = before(engine.port(), "--body-limit=1000", "--held-bodies-limit=8000");
    int refused = 0;
    for (int i = 0; i < 12; i++) {
      Wire client = to(sidecar).send(head(silent, LARGE.length()) + LARGE);
      client.socket().setSoTimeout(200);
      refused += isRefused(client) ? 1 : 0;
    }

    assertThat(refused).isPositive();
    assertThat(to(sidecar).send(head(engine, LARGE.length()) + LARGE).message().status())
        .isEqualTo(200);
  }
}
