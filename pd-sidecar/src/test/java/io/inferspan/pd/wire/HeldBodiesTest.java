package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.inferspan.pd.telemetry.Scrape;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that all bodies share one limit, and that each releases its share exactly once. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class HeldBodiesTest extends WireTest {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final String BODY = "{\"model\":\"" + "m".repeat(976) + "\",\"n\":1}";
  private static final String THRESHOLD = "{\"cache_hit_threshold\":0.5}";
  private static final String MISSED = "{\"choices\":[{\"finish_reason\":\"cache_threshold\"}]}";
  private static final String ERROR = "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno";
  private static final String BROKEN = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nno";

  private Scrape scrape;

  @BeforeEach
  void start() {
    scrape = closing(new Scrape(FreePort.next()));
  }

  private SidecarRig sidecar(RawServer decoder, String... flags) {
    return closing(started(decoder, flags));
  }

  private SidecarRig started(RawServer decoder, String... flags) {
    return SidecarRig.before(decoder.port())
        .with("--body-limit=1000", "--held-bodies-limit=1500")
        .with("--metrics-port=" + scrape.port())
        .with(flags)
        .start();
  }

  private double held() {
    return scrape.samples().getOrDefault("inferspan_pd_held_bodies_bytes", Double.NaN);
  }

  private void assertNothingIsHeld() {
    Awaited.within(SOON, "nothing is held", () -> held() == 0);
    scrape.awaitZero("inferspan_pd_requests_in_flight");
    assertThat(held()).isZero();
  }

  /** Starts an engine that reads requests and never answers. */
  private RawServer silent() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.rest();
        });
  }

  private static String head(RawServer prefiller, String framing) {
    return "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
        + prefiller.authority()
        + "\r\n"
        + framing
        + "\r\n\r\n";
  }

  private static String post(RawServer prefiller, String body) {
    return head(prefiller, "content-length: " + body.length()) + body;
  }

  @Test
  void bodyBeyondTheLimit_is503_untilThereIsRoomAgain() throws Exception {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar = sidecar(engine);
    Wire first = to(sidecar).send(head(engine, "content-length: " + BODY.length()));
    first.send(BODY.substring(0, 500));
    Awaited.within(SOON, "the first is held", () -> held() > 0);

    Wire second = to(sidecar);
    Wire.Message refused = second.send(post(engine, BODY)).message();

    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.header("retry-after")).isEqualTo("1");
    assertThat(ScriptedEngine.parse(refused.body()).get("message").asText())
        .isEqualTo("the limit of 1500 bytes for all bodies is reached (--held-bodies-limit)");
    assertThat(scrape.samples()).containsEntry("inferspan_pd_held_bodies_refused_total", 1.0);

    first.send(BODY.substring(500));
    assertThat(first.message().status()).isEqualTo(200);
    assertThat(second.send(post(engine, BODY)).message().status()).isEqualTo(200);
    assertNothingIsHeld();
  }

  @Test
  void bodyThatGrowsBeyondTheLimit_is503() throws Exception {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar = sidecar(engine, "--body-limit=1000000", "--held-bodies-limit=1000000");
    Wire first = to(sidecar).send(head(engine, "transfer-encoding: chunked"));
    Wire second = to(sidecar).send(head(engine, "transfer-encoding: chunked"));
    first.send("90000\r\n" + "x".repeat(0x90000) + "\r\n");
    Awaited.within(SOON, "the first is held", () -> held() >= 0x90000);
    second.send("90000\r\n" + "x".repeat(0x90000) + "\r\n");

    assertThat(second.message().status()).isEqualTo(503);
    first.send("0\r\n\r\n");
    assertThat(first.message().status()).isEqualTo(400);
    assertNothingIsHeld();
  }

  @Test
  void manySmallPiecesBeyondTheBound_arePassedOn() throws Exception {
    String pieces = "1\r\nx\r\n".repeat(10_000) + "0\r\n\r\n";
    RawServer decoder =
        engine(
            (wire, server) -> {
              while (true) {
                boolean large = server.request(wire).head().startsWith("GET");
                wire.send(
                    large
                        ? ok("x".repeat(4 << 20))
                        : "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + pieces);
              }
            });
    Wire client = to(sidecar(decoder, "--kv-connector=shared-storage"));
    // From then on, one read of this connection takes up to 64 KB.
    client.send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n").message();

    assertThat(client.send(post(decoder, THRESHOLD)).message().body()).hasSize(10_000);
    assertNothingIsHeld();
  }

  @Test
  void decodeAfterItsStart_holdsNothing() throws Exception {
    RawServer prefiller = engineAnswering(ok("{}"));
    RawServer decoder =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(
                  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                      + "transfer-encoding: chunked\r\n\r\n3\r\n:a\n\r\n");
              wire.rest();
            });
    Wire client = to(sidecar(decoder)).send(post(prefiller, BODY));
    client.head();

    assertThat(held()).isZero();
    client.close();
    assertNothingIsHeld();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nixlv2", "shared-storage"})
  void largeResponseForADisconnectedClient_isReleased(String connector) throws Exception {
    String counted = "{\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}";
    RawServer prefiller = engineAnswering(ok(counted + "}"));
    int large = 2 << 20;
    RawServer decoder =
        engineAnswering(ok(counted.replace('7', '8') + ",\"a\":\"" + "a".repeat(large) + "\"}"));
    SidecarRig sidecar =
        sidecar(
            decoder,
            "--kv-connector=" + connector,
            "--body-limit=8MiB",
            "--held-bodies-limit=16MiB");
    CompletableFuture<?> scanned = new CompletableFuture<>();
    closing(() -> scanned.complete(null));
    sidecar.workers().execute(scanned::join);
    sidecar.workers().execute(scanned::join);
    Wire client = to(sidecar).send(post(prefiller, THRESHOLD));
    Awaited.within(
        SOON,
        "the answer was read",
        () -> sidecar.gauge("upstream_connections_idle", "stage", "decode") == 1);
    client.reset();
    Awaited.within(SOON, "the request ended", () -> sidecar.gauge("requests_in_flight") == 0);
    scanned.complete(null);

    assertNothingIsHeld();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--kv-connector=sglang", "--kv-connector=offloading"})
  void hangingDetachedPrefill_holdsNothing_afterTheClientLeft(String flag) throws Exception {
    RawServer prefiller = silent();
    Wire client = to(sidecar(silent(), flag)).send(post(prefiller, BODY));
    Awaited.within(SOON, "prefill is called", () -> prefiller.heads().size() == 1);
    assertThat(held()).as("held, in case the connection is dead").isPositive();
    client.reset();

    assertNothingIsHeld();
    assertThat(prefiller.ended()).as("connections that ended").isZero();
  }

  @Test
  void hangingDetachedPrefill_holdsNothing_afterTheResponse() throws Exception {
    RawServer prefiller = silent();
    SidecarRig sidecar = sidecar(engineAnswering(ok("{}")), "--kv-connector=sglang");

    for (int i = 0; i < 3; i++) {
      assertThat(to(sidecar).send(post(prefiller, BODY)).message().status()).isEqualTo(200);
      // Prefill may still be connecting when decode, over an idle connection, has answered.
      assertNothingIsHeld();
    }

    assertThat(prefiller.ended()).as("connections that ended").isZero();
  }

  @Test
  void unsentDetachedPrefill_holdsItsBody_afterItsClientDisconnected() throws Exception {
    RawServer withoutTls = engine((wire, server) -> wire.rest());
    SidecarRig sidecar = sidecar(silent(), "--kv-connector=sglang", "--enable-tls=prefiller");
    Wire client = to(sidecar).send(post(withoutTls, BODY));
    Awaited.within(SOON, "connected", () -> withoutTls.connections() == 1);
    client.reset();
    scrape.awaitZero("inferspan_pd_requests_in_flight");

    assertThat(held()).isPositive();
    withoutTls.close();
    assertNothingIsHeld();
  }

  @Test
  void detachedPrefillOverADeadConnection_failsOnceItsBodyIsReleased() throws Exception {
    RawServer prefiller =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(ok("{}"));
              server.request(wire);
              Awaited.within(SOON, "the test permits it", () -> server.heads().contains("go"));
            });
    SidecarRig sidecar = sidecar(engineAnswering(ok("{}")), "--kv-connector=sglang");
    assertThat(to(sidecar).send(post(prefiller, BODY)).message().status()).isEqualTo(200);
    awaitPrefills(1);
    assertThat(to(sidecar).send(post(prefiller, BODY)).message().status()).isEqualTo(200);
    Awaited.within(SOON, "prefill is called twice", () -> prefiller.heads().size() == 2);
    assertNothingIsHeld();

    prefiller.saw("go");

    awaitPrefills(2);
    assertThat(scrape.samples())
        .containsEntry("llm_d_disagg_sidecar_request_errors_total{stage=\"prefill\"}", 1.0);
    assertThat(prefiller.heads()).as("what was sent").hasSize(3);
  }

  private void awaitPrefills(double count) {
    String ended = "llm_d_disagg_sidecar_prefill_duration_seconds_count";
    Awaited.within(
        SOON, "prefills end", () -> scrape.samples().getOrDefault(ended, Double.NaN) == count);
  }

  @ParameterizedTest
  @ValueSource(strings = {ERROR, BROKEN, "", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"})
  void prefillAndDecode_releaseTheirMemory_howeverTheyEnd(String answer) throws Exception {
    for (String flag :
        new String[] {
          "--kv-connector=nixlv2",
          "--kv-connector=shared-storage",
          "--kv-connector=sglang",
          "--kv-connector=offloading",
          "--decode-chunk-size=4"
        }) {
      try (Scrape own = new Scrape(FreePort.next())) {
        scrape = own;
        both(answer, flag);
      }
    }
  }

  private void both(String answer, String flag) throws IOException {
    RawServer good = engineAnswering(ok("{}"));
    RawServer bad =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(answer);
            });
    try (SidecarRig sidecar = started(bad, flag)) {
      to(sidecar).send(post(good, BODY)).rest(Duration.ofMillis(200));
      to(sidecar).send(post(bad, BODY)).rest(Duration.ofMillis(200));
      to(sidecar).send(post(bad, BODY)).reset();
      assertNothingIsHeld();
    }
  }

  @Test
  void decodeBeforePrefill_releasesItsMemory() throws Exception {
    RawServer engine = engineAnswering(ok(MISSED));
    Wire client = to(sidecar(engine, "--kv-connector=shared-storage"));

    assertThat(client.send(post(engine, THRESHOLD)).message().status()).isEqualTo(200);

    assertThat(engine.heads()).hasSize(3);
    assertNothingIsHeld();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "content-length: 900\r\n\r\n{}",
        "content-length: 2\r\n\r\n[]",
        "transfer-encoding: chunked\r\n\r\nzz\r\n",
        "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
      })
  void incompleteRequest_releasesItsMemory(String rest) throws Exception {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar = sidecar(engine);
    String head = head(engine, "x-a: b");

    Wire client = to(sidecar).send(head.substring(0, head.length() - 2) + rest);
    client.rest(Duration.ofMillis(200));
    client.close();

    assertNothingIsHeld();
  }
}
