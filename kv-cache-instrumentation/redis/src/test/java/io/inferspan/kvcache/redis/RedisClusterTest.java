package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.BlockIndexContract;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract, with a cluster of three nodes. */
class RedisClusterTest extends BlockIndexContract {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int SLOTS = 16_384;
  private static final List<RedisServer> NODES = new ArrayList<>();

  @BeforeAll
  static void startNodes() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
    for (int i = 0; i < 3; i++) {
      NODES.add(RedisServer.start("--cluster-enabled", "yes", "--cluster-node-timeout", "2000"));
    }
    for (int i = 0; i < NODES.size(); i++) {
      try (RawRedis raw = NODES.get(i).connect()) {
        raw.send(addSlots(SLOTS * i / 3, SLOTS * (i + 1) / 3));
        raw.send("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        raw.send("CLUSTER", "MEET", "127.0.0.1", Integer.toString(NODES.get(0).port()));
      }
    }
    for (RedisServer node : NODES) {
      Awaited.within(LONG, "a whole cluster", () -> knowsAll(node));
    }
  }

  /** One by one, because ADDSLOTSRANGE needs Redis 7. */
  private static String[] addSlots(int from, int to) {
    IntStream slots = IntStream.range(from, to);
    return Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots.mapToObj(Integer::toString))
        .toArray(String[]::new);
  }

  private static boolean knowsAll(RedisServer node) {
    try (RawRedis raw = node.connect()) {
      String info = raw.send("CLUSTER", "INFO").get(0);
      return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384");
    }
  }

  @AfterAll
  static void stopNodes() {
    NODES.forEach(RedisServer::close);
    NODES.clear();
  }

  @Override
  protected BlockIndex newIndex() {
    for (RedisServer node : NODES) {
      try (RawRedis raw = node.connect()) {
        raw.send("FLUSHALL");
      }
    }
    return RedisBlockIndex.open(
        RedisIndexOptions.cluster(NODES.stream().map(RedisServer::address).toList())
            .lookupTimeout(Duration.ofSeconds(5))
            .writeTimeout(LONG)
            .build());
  }

  @Override
  protected boolean stopsAtAGap() {
    return true;
  }

  @Test
  void blocksAreSpreadOverTheNodes() {
    long[] keys = new long[300];
    Arrays.setAll(keys, i -> i);
    add(keys, keys, A);

    for (RedisServer node : NODES) {
      try (RawRedis raw = node.connect()) {
        assertThat(raw.keys()).hasSizeBetween(100, 300);
      }
    }
  }

  @Test
  void changesKeepTheirOrder() {
    RedisOrderTest.check((RedisBlockIndex) index);
  }

  @Test
  void aBlockInASlotThatMovesToAnotherNode_isFoundAndChanged() {
    long[] key = {7};
    add(key, key, A);
    try (RawRedis one = NODES.get(0).connect();
        RawRedis two = NODES.get(1).connect();
        RawRedis three = NODES.get(2).connect()) {
      List<RawRedis> nodes = List.of(one, two, three);
      String slot = one.send("CLUSTER", "KEYSLOT", "7").get(0);
      int from = IntStream.range(0, 3).filter(i -> holds(nodes.get(i))).findFirst().orElseThrow();
      int to = (from + 1) % 3;
      String source = nodes.get(from).send("CLUSTER", "MYID").get(0);
      String target = nodes.get(to).send("CLUSTER", "MYID").get(0);
      nodes.get(to).send("CLUSTER", "SETSLOT", slot, "IMPORTING", source);
      nodes.get(from).send("CLUSTER", "SETSLOT", slot, "MIGRATING", target);
      String port = Integer.toString(NODES.get(to).port());
      nodes.get(from).send("MIGRATE", "127.0.0.1", port, "7", "0", "5000");
      assertThat(holds(nodes.get(to))).isFalse();
      Awaited.within(LONG, "the block while it moves", () -> found(key));
      add(key, key, A);
      assertThatThrownBy(() -> clear()).hasMessageContaining("MOVED");

      nodes.get(to).send("CLUSTER", "SETSLOT", slot, "NODE", target);
      nodes.get(from).send("CLUSTER", "SETSLOT", slot, "NODE", target);
      assertThat(holds(nodes.get(to))).isTrue();
      Awaited.within(LONG, "the block at its new node", () -> found(key));
      clear();
      assertThat(holds(nodes.get(to))).isFalse();
    }
  }

  private void clear() {
    index.clear(A.pod()).toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
  }

  private static boolean holds(RawRedis node) {
    return node.send("HLEN", "7").get(0).equals("1");
  }

  private boolean found(long[] key) {
    BlockHits hits =
        index
            .lookup(key, Set.of(), new BlockHits(), Context.root())
            .toCompletableFuture()
            .orTimeout(30, TimeUnit.SECONDS)
            .join();
    return hits.failure() == null && hits.at(0).length == 1;
  }
}
