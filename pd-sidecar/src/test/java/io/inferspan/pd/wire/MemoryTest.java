package io.inferspan.pd.wire;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.LiveMemory;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.inferspan.pd.telemetry.Scrape;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Measures the memory of requests and answers in flight, and compares the gauge with it. */
@Timeout(60)
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class MemoryTest extends WireTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int MIB = 1 << 20;
  private static final int LARGE = 8 * MIB;

  /** An allowance for connections, traces and the test itself. */
  private static final long SLACK = 3 * MIB;

  private static final byte[] IMAGE = image();
  private static final String STREAM =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
          + "a\r\ndata: {}\n\n\r\na\r\ndata: {}\n\n\r\n";

  private Scrape scrape;
  private long before;

  @BeforeEach
  void start() {
    scrape = closing(new Scrape(FreePort.next()));
    before = LiveMemory.bytes();
  }

  private static byte[] image() {
    return ("{\"stream\":true,\"cache_hit_threshold\":0.5,\"messages\":[{\"role\":\"user\",\"content\":["
            + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:"
            + "A".repeat(LARGE)
            + "\"}}]}]}")
        .getBytes(ISO_8859_1);
  }

  private SidecarRig sidecar(RawServer decoder, String... flags) {
    return closing(
        SidecarRig.before(decoder.port())
            .with("--held-bodies-limit=64MiB", "--metrics-port=" + scrape.port())
            .with(flags)
            .start());
  }

  private long gauge() {
    return Objects.requireNonNull(scrape.samples().get("inferspan_pd_held_bodies_bytes"))
        .longValue();
  }

  /** Returns the memory used since the test began. */
  private long taken() {
    return LiveMemory.bytes() - before;
  }

  /** Waits, because the test's engines may still be reading into memory of this process. */
  private void assertCounted() {
    boolean counted = Awaited.holds(SOON, () -> taken() < gauge() + SLACK);
    assertThat(counted).as("%d bytes are used, %d are counted", taken(), gauge()).isTrue();
  }

  /** Starts a response and never ends it. */
  private RawServer streaming() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.send(STREAM);
          wire.rest();
        });
  }

  /** Accepts connections and never reads. */
  private RawServer deaf() {
    return engine((wire, server) -> Awaited.holds(Duration.ofSeconds(50), () -> false));
  }

  private RawServer silent() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.rest();
        });
  }

  private static byte[] post(RawServer prefiller, byte[] body, String... headers) {
    String head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
            + prefiller.authority()
            + "\r\n"
            + String.join("", headers)
            + "content-length: "
            + body.length
            + "\r\n\r\n";
    byte[] message = new byte[head.length() + body.length];
    System.arraycopy(head.getBytes(ISO_8859_1), 0, message, 0, head.length());
    System.arraycopy(body, 0, message, head.length(), body.length);
    return message;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--kv-connector=nixlv2",
        "--kv-connector=nixlv2 --ec-connector=ec-example",
        "--kv-connector=nixlv2 --ec-connector=ec-nixl",
        "--kv-connector=nixlv2 --moriio-write-mode --moriio-parallel-dispatch"
            + " --moriio-local-pod-ip=127.0.0.1",
        "--kv-connector=shared-storage",
        "--kv-connector=sglang",
        "--kv-connector=offloading"
      })
  void startedStream_usesNoMemoryForItsRequest(String flags) throws IOException {
    RawServer prefiller = engineAnswering(ok("{}"));
    SidecarRig sidecar = sidecar(streaming(), flags.split(" "));
    String encoders = "x-encoder-hosts-ports: " + prefiller.authority() + "\r\n";
    List<Wire> clients = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      clients.add(to(sidecar).send(post(prefiller, IMAGE, encoders)));
    }
    for (Wire client : clients) {
      assertThat(client.head()).startsWith("HTTP/1.1 200");
      client.bytes(20);
    }

    Awaited.within(SOON, "nothing is held", () -> gauge() == 0);
    assertCounted();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nixlv2", "sglang"})
  void engineThatDoesNotRead_isCountedUntilItsConnectionEnds(String connector) throws IOException {
    RawServer decoder = deaf();
    SidecarRig sidecar =
        sidecar(
            decoder,
            "--kv-connector=" + connector,
            "--held-bodies-limit=20MiB",
            "--body-limit=16MiB");
    List<Wire> clients = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      // Different prefillers, so that the limit per pod is not reached.
      clients.add(to(sidecar).send(post(engineAnswering(ok("{}")), IMAGE)));
    }
    Awaited.within(SOON, "decodes have begun", () -> decoder.connections() == 2);
    Awaited.within(SOON, "both are held", () -> gauge() >= 2 * LARGE);

    assertCounted();
    assertThat(gauge()).isLessThan(20 * MIB);
    Wire.Message refused = to(sidecar).send(post(silent(), IMAGE)).message();
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.header("retry-after")).isEqualTo("1");

    for (Wire client : clients) {
      client.reset();
    }
    Awaited.within(SOON, "nothing is held", () -> gauge() == 0);
    assertCounted();
  }

  @Test
  void responseHeldForTheCachedTokens_isCounted() throws IOException {
    RawServer prefiller = engineAnswering(ok("{\"usage\":{}}"));
    RawServer decoder = answeringAllButTheEnd();
    SidecarRig sidecar = sidecar(decoder);

    Wire client = to(sidecar).send(post(prefiller, "{}".getBytes(ISO_8859_1)));
    Awaited.within(SOON, "the answer is held", () -> gauge() >= LARGE);

    assertCounted();
    client.reset();
    Awaited.within(SOON, "nothing is held", () -> gauge() == 0);
  }

  @Test
  void responseWithoutRoom_passesUnchanged() throws IOException {
    RawServer prefiller = engineAnswering(ok("{\"usage\":{}}"));
    SidecarRig sidecar =
        sidecar(answeringAllButTheEnd(), "--body-limit=1MiB", "--held-bodies-limit=2MiB");

    Wire client = to(sidecar).send(post(prefiller, "{}".getBytes(ISO_8859_1)));

    assertThat(client.head()).startsWith("HTTP/1.1 200");
    assertThat(client.bytes(2 * MIB)).contains("AAA");
  }

  @Test
  void bufferedPrefillResponse_isCounted() throws IOException {
    RawServer prefiller = answeringAllButTheEnd();
    SidecarRig sidecar = sidecar(silent());

    Wire client = to(sidecar).send(post(prefiller, "{}".getBytes(ISO_8859_1)));
    Awaited.within(SOON, "the answer is held", () -> gauge() >= LARGE);

    assertCounted();
    client.reset();
    Awaited.within(SOON, "nothing is held", () -> gauge() == 0);
  }

  @Test
  void responseBehindAGate_isCounted() throws IOException {
    SidecarRig sidecar = sidecar(answeringAllButTheEnd(), "--kv-connector=shared-storage");

    Wire client =
        to(sidecar).send(post(silent(), "{\"cache_hit_threshold\":0.5}".getBytes(ISO_8859_1)));
    Awaited.within(SOON, "the answer is held", () -> gauge() >= LARGE);

    assertCounted();
    client.reset();
    Awaited.within(SOON, "nothing is held", () -> gauge() == 0);
  }

  private RawServer answeringAllButTheEnd() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.send("HTTP/1.1 200 OK\r\ncontent-length: " + (IMAGE.length + 1) + "\r\n\r\n");
          wire.send(IMAGE);
          wire.rest();
        });
  }

  @Test
  void chunkedUpload_usesNoMoreThanTheGaugeReports() throws IOException {
    RawServer prefiller = silent();
    SidecarRig sidecar = sidecar(silent());
    Wire client =
        to(sidecar)
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
                    + prefiller.authority()
                    + "\r\ntransfer-encoding: chunked\r\n\r\n"
                    + Integer.toHexString(IMAGE.length)
                    + "\r\n");
    client.send(IMAGE);
    Awaited.within(SOON, "it is held", () -> gauge() >= IMAGE.length);
    assertCounted();
    assertThat(gauge()).isLessThan(IMAGE.length + MIB);

    client.send("\r\n0\r\n\r\n");
    Awaited.within(SOON, "prefill has it", () -> prefiller.heads().size() == 1);
    assertCounted();
  }
}
