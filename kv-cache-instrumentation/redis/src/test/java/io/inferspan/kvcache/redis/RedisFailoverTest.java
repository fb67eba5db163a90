package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A cluster of three masters, of which one is killed and replaced by its replica. */
class RedisFailoverTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long[] KEYS = new long[100];

  static {
    Arrays.setAll(KEYS, i -> i);
  }

  private final List<RedisServer> nodes = new ArrayList<>();

  @AfterEach
  void stopNodes() {
    nodes.forEach(RedisServer::close);
  }

  private void startNodes() {
    for (int i = 0; i < 4; i++) {
      nodes.add(RedisServer.start("--cluster-enabled", "yes", "--cluster-node-timeout", "1000"));
    }
    for (int i = 0; i < 4; i++) {
      try (RawRedis raw = nodes.get(i).connect()) {
        IntStream slots =
            i == 3 ? IntStream.empty() : IntStream.range(16_384 * i / 3, 16_384 * (i + 1) / 3);
        if (i < 3) {
          raw.send(
              Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots.mapToObj(Integer::toString))
                  .toArray(String[]::new));
        }
        raw.send("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        raw.send("CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(0).port()));
      }
    }
    nodes.forEach(
        node ->
            Awaited.within(
                LONG,
                "a whole cluster",
                () ->
                    info(node).contains("cluster_known_nodes:4")
                        && info(node).contains("cluster_state:ok")));
    try (RawRedis master = nodes.get(0).connect();
        RawRedis replica = nodes.get(3).connect()) {
      String id = master.send("CLUSTER", "MYID").get(0);
      Awaited.within(
          LONG, "a replica", () -> replica.send("CLUSTER", "REPLICATE", id).get(0).equals("OK"));
      Awaited.within(
          LONG,
          "a copy",
          () -> replica.send("INFO", "replication").get(0).contains("master_link_status:up"));
    }
  }

  private static String info(RedisServer node) {
    try (RawRedis raw = node.connect()) {
      return raw.send("CLUSTER", "INFO").get(0);
    }
  }

  @Test
  void afterAKilledMaster_itsReplicaIsReadAndWritten() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
    startNodes();
    try (RedisBlockIndex index =
        RedisBlockIndex.open(
            RedisIndexOptions.cluster(nodes.stream().map(RedisServer::address).toList())
                .lookupTimeout(Duration.ofSeconds(2))
                .writeTimeout(Duration.ofSeconds(2))
                .build())) {
      Awaited.within(LONG, "writes", () -> isWritten(index));
      try (RawRedis master = nodes.get(0).connect()) {
        assertThat(master.send("WAIT", "1", "5000")).containsExactly("1");
      }
      nodes.get(0).kill();

      Awaited.within(LONG, "lookups", () -> isFound(index));
      Awaited.within(LONG, "writes again", () -> isWritten(index));
    }
  }

  private static boolean isFound(RedisBlockIndex index) {
    BlockHits hits =
        index.lookup(KEYS, Set.of(), new BlockHits(), Context.root()).toCompletableFuture().join();
    return hits.failure() == null && hits.found() == KEYS.length;
  }

  private static boolean isWritten(RedisBlockIndex index) {
    return index
        .add(KEYS, KEYS, List.of(A), Context.root())
        .handle((done, failure) -> failure == null)
        .toCompletableFuture()
        .join();
  }
}
