package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A sidecar that stops lets requests end, and nothing begin. */
final class DrainTest extends WireTest {

  @Test
  void requestsUnderWayEnd_idleConnectionsClose_andNewOnesAreRefused() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              Awaited.within(Duration.ofSeconds(5), "told", () -> server.heads().contains("go"));
              wire.send("2\r\nho\r\n0\r\n\r\n");
              wire.rest();
            });
    SidecarRig sidecar = before(engine.port());
    Wire idle = to(sidecar).send("GET /health HTTP/1.1\r\nhost: a\r\n\r\n");
    idle.message();
    Wire busy = to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
    String head = busy.head();

    Thread draining = Thread.ofVirtual().start(() -> drain(sidecar));

    assertThat(idle.rest()).isEmpty();
    Awaited.within(Duration.ofSeconds(2), "refused", () -> refused(sidecar.port()));
    assertThat(draining.isAlive()).isTrue();
    engine.saw("go");
    assertThat(busy.body(head).body()).isEqualTo("hiho");
    assertThat(busy.rest()).isEmpty();
    assertThat(draining.join(Duration.ofSeconds(2))).isTrue();
    assertThat(sidecar.server().openConnections()).isZero();
  }

  @Test
  void requestThatNeverEnds_isNotWaitedForBeyondTheBound() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    SidecarRig sidecar = before(engine.port());
    to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
    Awaited.within(Duration.ofSeconds(2), "asked", () -> engine.heads().size() == 1);

    sidecar.server().drain(Duration.ofMillis(200));

    assertThat(sidecar.server().openConnections()).isEqualTo(1);
  }

  private static void drain(SidecarRig sidecar) {
    try {
      sidecar.server().drain(Duration.ofSeconds(8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean refused(int port) {
    try (Wire _ = Wire.to(port)) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
