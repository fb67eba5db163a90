package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that an upgrade turns the two connections into a tunnel. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class UpgradeTest extends WireTest {
  private static final String ASK =
      "GET /v1/realtime HTTP/1.1\r\nhost: a\r\nconnection: keep-alive, Upgrade\r\n"
          + "upgrade: websocket\r\nsec-websocket-key: k\r\n\r\n";
  private static final String SWITCH =
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
          + "sec-websocket-accept: x\r\n\r\n";

  private Wire upgraded(RawServer engine) throws Exception {
    Wire client = to(before(engine.port())).send(ASK);
    assertThat(client.head())
        .startsWith("HTTP/1.1 101 ")
        .containsIgnoringCase("\r\nconnection: upgrade\r\n")
        .containsIgnoringCase("\r\nupgrade: websocket\r\n")
        .contains("sec-websocket-accept: x")
        .doesNotContainIgnoringCase("transfer-encoding");
    return client;
  }

  @Test
  void bytes_areForwardedBothWays() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(SWITCH + "hello\0");
              wire.send(wire.bytes(4));
              wire.halfClose();
              wire.rest();
            });

    Wire client = upgraded(engine);

    assertThat(client.bytes(6)).isEqualTo("hello\0");
    assertThat(client.send("\u0081\u0001a\n").bytes(4)).isEqualTo("\u0081\u0001a\n");
    assertThat(client.rest()).isEmpty();
    assertThat(engine.heads().getFirst())
        .containsIgnoringCase("\r\nconnection: upgrade\r\n")
        .containsIgnoringCase("\r\nupgrade: websocket\r\n");
  }

  @Test
  void clientThatCloses_closesTheEngine() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(SWITCH);
              wire.rest();
            });
    upgraded(engine).close();

    Awaited.within(Duration.ofSeconds(1), "the engine is closed", () -> engine.ended() == 1);
  }

  @Test
  void refusedUpgrade_isAnsweredNormally() throws Exception {
    RawServer engine = engineAnswering(ok("no"));
    Wire client = to(before(engine.port()));

    assertThat(client.send(ASK).message().body()).isEqualTo("no");
    assertThat(client.send(ASK).message().body()).isEqualTo("no");
    assertThat(engine.connections()).isEqualTo(1);
  }

  @Test
  void unrequestedProtocolSwitch_isABadGateway() throws Exception {
    RawServer engine = engineAnswering(SWITCH + "raw bytes");
    SidecarRig sidecar = before(engine.port());

    Wire.Message answer = to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n").message();

    assertThat(answer.status()).isEqualTo(502);
  }

  @Test
  void upgradeToHttp2_isNotForwarded() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client =
        to(before(engine.port()))
            .send(
                "GET /x HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\n"
                    + "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n");

    assertThat(client.message().body()).isEqualTo("hi");
    assertThat(engine.heads().getFirst())
        .doesNotContainIgnoringCase("upgrade")
        .doesNotContainIgnoringCase("http2-settings");
  }

  @Test
  void slowReaders_pauseTheOtherEnd() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(SWITCH);
              byte[] block = new byte[64 * 1024];
              for (int i = 0; i < 1000; i++) {
                wire.send(block);
                server.saw("block");
              }
            });
    Wire client = upgraded(engine);

    Awaited.within(
        Duration.ofSeconds(5),
        "the engine stalls",
        () -> {
          int before = engine.heads().size();
          return before > 1
              && !Awaited.holds(Duration.ofMillis(200), () -> engine.heads().size() != before);
        });
    assertThat(engine.heads().size()).isLessThan(600);
    client.bytes(1000 * 64 * 1024);
    assertThat(client.rest()).isEmpty();
  }
}
