package io.inferspan.pd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.telemetry.Scrape;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs a sidecar process with little memory for {@code -Dmemory.seconds}: with bodies of up to 64
 * MiB, engines that do not answer, do not read, are slow or reset connections, and clients that
 * stall, disconnect or read slowly.
 */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class MemoryBoundIT {
  private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("memory.seconds", 12));
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int HELD_MIB = 64;
  private static final int CLIENTS = 10;
  private static final long SEED = 20;
  private static final byte[] BLOCK = "A".repeat(1 << 20).getBytes(ISO_8859_1);
  private static final String BEFORE =
      "{\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":["
          + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:";
  private static final String AFTER = "\"}}]}]}";
  private static final String HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n";

  private final List<AutoCloseable> open = new ArrayList<>();
  private final Map<String, AtomicInteger> seen = new ConcurrentSkipListMap<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
  }

  private <T extends AutoCloseable> T closing(T one) {
    open.add(one);
    return one;
  }

  private RawServer engine(RawServer.Script script) {
    return closing(RawServer.running(script));
  }

  /** Reads and discards a request. */
  private static void skipRequest(Wire wire) throws IOException {
    String head = wire.head();
    int at = head.indexOf("content-length: ") + "content-length: ".length();
    wire.skip(Long.parseLong(head.substring(at, head.indexOf('\r', at))));
  }

  private RawServer healthy() {
    return engine(
        (wire, server) -> {
          while (true) {
            skipRequest(wire);
            wire.send("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"usage\":{}}");
          }
        });
  }

  private RawServer silent() {
    return engine(
        (wire, server) -> {
          skipRequest(wire);
          wire.endsWithin(60_000);
        });
  }

  private RawServer dying() {
    return engine(
        (wire, server) -> {
          wire.head();
          wire.skip(100_000);
          wire.reset();
        });
  }

  private RawServer deaf() {
    return engine((wire, server) -> Awaited.holds(PATIENCE, () -> false));
  }

  /** Starts a decoder that alternates between several behaviors. */
  private RawServer decoder() {
    AtomicInteger calls = new AtomicInteger();
    return engine(
        (wire, server) -> {
          int call = calls.getAndIncrement();
          if (call % 7 == 6) {
            wire.head();
            wire.skip(1 << 16);
            wire.reset();
          } else if (call % 7 == 5) {
            wire.head();
            Awaited.holds(Duration.ofSeconds(2), () -> false);
          } else {
            skipRequest(wire);
            answer(wire, call % 7 == 4);
          }
        });
  }

  private static void answer(Wire wire, boolean whole) throws IOException {
    wire.send(HEAD + "content-type: " + (whole ? "application/json" : "text/event-stream"));
    wire.send("\r\n\r\n");
    for (int i = 0; i < 8; i++) {
      wire.send("100000\r\n").send(BLOCK).send("\r\n");
    }
    wire.send("0\r\n\r\n");
  }

  private Program sidecar(RawServer decoder, int port, int metrics, String gc) throws IOException {
    return closing(
            Program.start(
                Map.of(),
                List.of(
                    "-Xmx" + (HELD_MIB + 64) + "m",
                    "-XX:MaxDirectMemorySize=" + (HELD_MIB + 32) + "m",
                    "-XX:+ExitOnOutOfMemoryError",
                    gc),
                "--port=" + port,
                "--metrics-port=" + metrics,
                "--model-server-port=" + decoder.port(),
                "--secure-proxy=false",
                "--ec-connector=ec-example",
                "--held-bodies-limit=" + HELD_MIB + "MiB",
                "--prefill-timeout=2s",
                "--body-timeout=4s"))
        .ready();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-XX:+UseG1GC", "-XX:+UseSerialGC"})
  void sidecar_survivesMoreBodiesThanItCanHold(String gc) throws Exception {
    int port = FreePort.next();
    Scrape scrape = closing(new Scrape(FreePort.next()));
    Program sidecar = sidecar(decoder(), port, scrape.port(), gc);
    List<RawServer> pods = List.of(healthy(), healthy(), silent(), dying(), deaf());
    long end = System.nanoTime() + TIME.toNanos();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(SEED + i);
      clients.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (System.nanoTime() - end < 0 && sidecar.alive()) {
                      request(port, pods, random);
                    }
                  }));
    }
    for (Thread client : clients) {
      client.join();
    }

    System.out.println("memory bound, " + gc + ": " + seen);
    assertThat(sidecar.alive()).as("alive, with output %s", sidecar.err()).isTrue();
    Awaited.within(
        PATIENCE,
        "nothing is held",
        () -> scrape.samples().getOrDefault("inferspan_pd_held_bodies_bytes", Double.NaN) == 0);
    assertThat(sidecar.err()).noneMatch(line -> line.contains("OutOfMemory"));
    assertThat(seen.keySet()).containsAnyOf("200").doesNotContain("500", "503 without retry-after");
  }

  private void request(int port, List<RawServer> pods, Random random) {
    try (Wire wire = Wire.to(port)) {
      wire.socket().setSoTimeout((int) PATIENCE.toMillis());
      RawServer pod = pods.get(random.nextInt(pods.size()));
      RawServer encoder = pods.get(random.nextInt(pods.size()));
      int mib = 1 << random.nextInt(7);
      int blocks = Math.max(1, mib == 64 ? 63 : random.nextInt(mib) + 1);
      boolean chunked = random.nextBoolean();
      wire.send(head(pod, encoder, chunked, blocks));
      upload(wire, chunked, blocks, random);
      read(wire, random);
    } catch (IOException e) {
      count("closed");
    }
  }

  private static String head(RawServer pod, RawServer encoder, boolean chunked, int blocks) {
    long length = BEFORE.length() + AFTER.length() + (long) blocks * BLOCK.length;
    return "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
        + pod.authority()
        + (blocks % 3 == 0 ? "\r\nx-encoder-hosts-ports: " + encoder.authority() : "")
        + (chunked ? "\r\ntransfer-encoding: chunked" : "\r\ncontent-length: " + length)
        + "\r\n\r\n";
  }

  private static void upload(Wire wire, boolean chunked, int blocks, Random random)
      throws IOException {
    int last = random.nextInt(8) == 0 ? random.nextInt(blocks) : blocks;
    piece(wire, chunked, BEFORE.getBytes(ISO_8859_1));
    for (int i = 0; i < last; i++) {
      piece(wire, chunked, BLOCK);
    }
    if (last == blocks) {
      piece(wire, chunked, AFTER.getBytes(ISO_8859_1));
      wire.send(chunked ? "0\r\n\r\n" : "");
    } else if (random.nextBoolean()) {
      wire.reset();
    }
  }

  private static void piece(Wire wire, boolean chunked, byte[] bytes) throws IOException {
    if (chunked) {
      wire.send(Integer.toHexString(bytes.length) + "\r\n").send(bytes).send("\r\n");
    } else {
      wire.send(bytes);
    }
  }

  private void read(Wire wire, Random random) throws IOException {
    String head = wire.head();
    String status = head.substring(9, 12);
    boolean bare = status.equals("503") && !head.contains("retry-after: 1");
    count(bare ? "503 without retry-after" : status);
    if (random.nextInt(3) == 0) {
      Awaited.holds(Duration.ofMillis(random.nextInt(1500)), () -> false);
    } else if (status.equals("200")) {
      wire.skip(8 << 20);
    }
  }

  private void count(String what) {
    seen.computeIfAbsent(what, _ -> new AtomicInteger()).incrementAndGet();
  }

  @Test
  void openStreams_doNotHoldTheirRequestBodies() throws Exception {
    int port = FreePort.next();
    RawServer streaming =
        engine(
            (wire, server) -> {
              skipRequest(wire);
              wire.send(HEAD + "content-type: text/event-stream\r\n\r\na\r\ndata: {}\n\n\r\n");
              wire.endsWithin(60_000);
            });
    RawServer healthy = healthy();
    Program sidecar = sidecar(streaming, port, FreePort.next(), "-XX:+UseG1GC");
    for (int i = 0; i < 10; i++) {
      Wire wire = closing(Wire.to(port)).send(head(healthy, healthy, false, 12));
      upload(wire, false, 12, new Random(1));
      assertThat(wire.head()).as("stream %d", i).startsWith("HTTP/1.1 200");
    }
    assertThat(sidecar.alive()).isTrue();
  }

  @Test
  void silentPod_doesNotAffectRequestsOfOtherPods() throws Exception {
    int port = FreePort.next();
    int metrics = FreePort.next();
    RawServer decoder = healthy();
    RawServer silent = silent();
    RawServer healthy = healthy();
    sidecar(decoder, port, metrics, "-XX:+UseSerialGC");
    List<Wire> stuck = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Wire wire = closing(Wire.to(port)).send(head(silent, silent, false, 7));
      upload(wire, false, 7, new Random(1));
      stuck.add(wire);
    }

    for (int i = 0; i < 5; i++) {
      try (Wire wire = Wire.to(port)) {
        wire.send(head(healthy, healthy, false, 2));
        upload(wire, false, 2, new Random(1));
        assertThat(wire.message().status()).isEqualTo(200);
      }
    }
    for (Wire wire : stuck) {
      assertThat(wire.message().status()).isIn(503, 504);
    }
  }
}
