package io.inferspan.pd.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.telemetry.Scrape;
import io.inferspan.testing.engine.FakeEngine;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.io.File;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/**
 * Runs many streams, with all kinds of faults and with clients that disconnect, for {@code
 * -Dsoak.seconds}. Afterwards, nothing may be leaked, and every request must be counted and traced.
 */
final class SoakIT {
  private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("soak.seconds", 20));
  private static final Duration WARM_UP = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int STREAMS = 200;
  private static final long MIB = 1 << 20;

  /** An allowance for chunks that the allocators keep for reuse. */
  private static final long KEPT_BYTES = 48 * MIB;

  private static final int KEPT_FILES = 8;

  @Test
  void soak_leaksNothing_andAccountsForEveryRequest() {
    round(WARM_UP);
    long files = openFiles();
    long direct = PlatformDependent.usedDirectMemory();
    long pinned = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();

    String summary = round(TIME);

    await("files", () -> openFiles() <= files + KEPT_FILES, SoakIT::openFiles);
    long pinnedLimit = pinned + MIB;
    await(
        "pinned memory",
        () -> PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() <= pinnedLimit,
        PooledByteBufAllocator.DEFAULT::pinnedDirectMemory);
    long directAfter = PlatformDependent.usedDirectMemory();
    assertThat(directAfter).isLessThanOrEqualTo(direct + KEPT_BYTES);
    System.out.printf(
        "soak: %s; files %d -> %d, direct MiB %d -> %d, pinned bytes %d -> %d%n",
        summary,
        files,
        openFiles(),
        direct / MIB,
        directAfter / MIB,
        pinned,
        PooledByteBufAllocator.DEFAULT.pinnedDirectMemory());
  }

  private static String round(Duration time) {
    SpanTally spans = new SpanTally();
    try (FakeEngine prefiller = FakeEngine.start();
        FakeEngine decoder = FakeEngine.start();
        Resetter resetter = new Resetter();
        Scrape scrape = new Scrape(FreePort.next());
        SidecarRig sidecar =
            SidecarRig.before(decoder.port())
                .with("--metrics-port=" + scrape.port(), "--event-loops=2")
                .tracedBy(spans.openTelemetry(), SpanNaming.PROPOSAL)
                .start()) {
      Clients clients = new Clients(sidecar, prefiller, decoder, resetter);
      clients.run(STREAMS, time);

      sidecar.client().shutdownNow();
      await(
          "connections of clients",
          () -> sidecar.server().openConnections() == 0,
          () -> sidecar.server().openConnections());
      scrape.awaitZero("inferspan_pd_requests_in_flight");
      scrape.awaitZero("inferspan_pd_held_bodies_bytes");
      resetter.close();
      prefiller.close();
      decoder.close();
      Map<String, Double> counted = scrape.awaitZero("inferspan_pd_upstream_connections_open");
      check(clients, spans, counted);
      return "%d s, %d requests, %d left by clients, %d engine faults, %d broken off, %d spans"
          .formatted(
              time.toSeconds(),
              clients.sent(),
              clients.left(),
              clients.faults(),
              clients.broken(),
              spans.ended());
    }
  }

  private static void check(Clients clients, SpanTally spans, Map<String, Double> counted) {
    assertThat(spans.ended()).as("spans that have ended").isEqualTo(spans.started());
    assertThat(spans.requests()).as("request spans").isEqualTo(clients.sent());
    assertThat(sum(counted, "llm_d_disagg_sidecar_requests_total"))
        .as("requests counted")
        .isEqualTo(clients.sent());
    assertThat(sum(counted, "inferspan_pd_request_duration_seconds_count"))
        .as("requests that have ended")
        .isEqualTo(clients.sent());
    assertThat(sum(counted, "inferspan_pd_upstream_connections_idle")).isZero();
  }

  private static long sum(Map<String, Double> counted, String name) {
    return (long)
        counted.entrySet().stream()
            .filter(sample -> sample.getKey().startsWith(name))
            .mapToDouble(Map.Entry::getValue)
            .sum();
  }

  /** Returns the number of open files and sockets of this process; 0 if unknown. */
  private static long openFiles() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  private static void await(String what, BooleanSupplier done, LongSupplier value) {
    if (!Awaited.holds(PATIENCE, done)) {
      throw new AssertionError(what + ": still " + value.getAsLong());
    }
  }
}
