package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.BlockIndexContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
}
