package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A master that a Sentinel knows. */
@SuppressWarnings("NullAway.Init")
class RedisSentinelTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String NAME = "kv-master";

  private static RedisServer master;
  private static RedisServer sentinel;

  @BeforeAll
  static void start() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
    master = RedisServer.start();
    sentinel = RedisServer.sentinel(NAME, master);
  }

  @AfterAll
  static void stop() {
    if (sentinel != null) {
      sentinel.close();
    }
    if (master != null) {
      master.close();
    }
  }

  private static RedisBlockIndex open(String name, String... addresses) {
    return RedisBlockIndex.open(
        RedisIndexOptions.sentinel(name, List.of(addresses))
            .connectTimeout(LONG)
            .lookupTimeout(LONG)
            .writeTimeout(LONG)
            .build());
  }

  private static BlockHits lookup(RedisBlockIndex index) {
    return index
        .lookup(new long[] {1}, Set.of(), new BlockHits(), Context.root())
        .toCompletableFuture()
        .join();
  }

  @Test
  void theMasterThatTheSentinelNames_holdsTheIndex() {
    try (RedisBlockIndex index = open(NAME, sentinel.address())) {
      index
          .add(new long[0], new long[] {1}, List.of(A), Context.root())
          .toCompletableFuture()
          .join();

      assertThat(lookup(index).at(0)).containsExactly(A);
    }
    try (RawRedis raw = master.connect()) {
      assertThat(raw.keys()).containsExactly("1");
    }
  }

  @Test
  void aRestartedMaster_isFoundAgain() {
    try (RedisBlockIndex index = open(NAME, sentinel.address())) {
      Awaited.until("it is connected", () -> lookup(index).failure() == null);
      master.restart();

      Awaited.until("it is found again", () -> lookup(index).failure() == null);
      assertThat(index.counts().get(RedisIndexCount.LOST_CONNECTIONS)).isPositive();
    }
  }

  @Test
  void aMasterUnknownToTheSentinel_isAFailure() {
    try (RedisBlockIndex index = open("another", sentinel.address())) {
      Awaited.within(
          LONG, "attempts", () -> index.counts().get(RedisIndexCount.FAILED_CONNECTS) >= 3);

      assertThat(lookup(index).failure()).isNotNull();
      assertThat(index.counts().get(RedisIndexCount.CONNECTS)).isZero();
    }
  }

  @Test
  void ifOneSentinelIsDown_theOthersAreAsked() {
    String unreachable = "redis://127.0.0.1:" + RedisServer.freePort();
    try (RedisBlockIndex index = open(NAME, unreachable, sentinel.address())) {
      Awaited.until("it is connected", () -> lookup(index).failure() == null);
      assertThat(index.counts().get(RedisIndexCount.CONNECTS)).isPositive();
    }
  }

  @Test
  void afterAKilledMaster_theReplicaThatTheSentinelPromotesHoldsTheIndex() {
    try (RedisServer killed = RedisServer.start();
        RedisServer replica =
            RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(killed.port()));
        RedisServer watching = RedisServer.sentinel(NAME, killed);
        RawRedis asked = watching.connect();
        RawRedis next = replica.connect();
        RedisBlockIndex index = open(NAME, watching.address())) {
      assertThat(asked.send("SENTINEL", "SET", NAME, "down-after-milliseconds", "500"))
          .containsExactly("OK");
      Awaited.until("writes", () -> isWritten(index, 1));
      Awaited.until("the copy", () -> next.keys().contains("1"));
      String port = Integer.toString(replica.port());
      Awaited.until(
          "a replica to promote",
          () -> asked.send("SENTINEL", "REPLICAS", NAME).contains("127.0.0.1:" + port));
      killed.kill();

      Awaited.within(LONG.multipliedBy(2), "writes again", () -> isWritten(index, 2));
      // The Sentinel has disconnected all clients of the replica.
      try (RawRedis promoted = replica.connect()) {
        assertThat(promoted.send("ROLE").get(0)).isEqualTo("master");
        assertThat(promoted.keys()).contains("2");
      }
      Awaited.until("lookups", () -> lookup(index).failure() == null);
      assertThat(lookup(index).at(0)).containsExactly(A);
    }
  }

  private static boolean isWritten(RedisBlockIndex index, long key) {
    return index
        .add(new long[0], new long[] {key}, List.of(A), Context.root())
        .handle((done, failure) -> failure == null)
        .toCompletableFuture()
        .join();
  }
}
