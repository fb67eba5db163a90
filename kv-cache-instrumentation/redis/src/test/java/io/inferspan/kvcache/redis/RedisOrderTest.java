package io.inferspan.kvcache.redis;

import static io.inferspan.kvcache.index.KeyType.ENGINE;
import static io.inferspan.kvcache.index.KeyType.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Changes are applied in the order requested, even if the caller does not wait for them. */
class RedisOrderTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final PodEntry B = PodEntry.of("10.0.0.2:8000", "gpu");
  private static final long SEED = 77;
  private static final int BLOCKS = 8;

  @Test
  void additionsEvictionsAndClearings_keepTheirOrder() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
    try (RedisServer server = RedisServer.start();
        RedisBlockIndex index = RedisBlockIndex.open(RedisLayoutTest.patient(server))) {
      check(index);
    }
  }

  /** Makes random changes, and compares with a model that makes them one by one. */
  static void check(RedisBlockIndex index) {
    System.out.println("order of writes, seed " + SEED);
    Random random = new Random(SEED);
    for (int round = 0; round < 30; round++) {
      List<Set<PodEntry>> model = emptyModel();
      List<CompletionStage<Void>> writes = new ArrayList<>();
      writes.add(index.clear(A.pod()));
      writes.add(index.clear(B.pod()));
      for (int i = 0; i < 120; i++) {
        writes.add(change(index, random, model));
      }
      writes.forEach(RedisOrderTest::done);
      for (int block = 0; block < BLOCKS; block++) {
        BlockHits hits =
            done(index.lookup(new long[] {block}, Set.of(), new BlockHits(), Context.root()));
        assertThat(hits.failure()).isNull();
        assertThat(hits.at(0)).containsExactlyInAnyOrderElementsOf(model.get(block));
      }
    }
    assertThat(index.pendingCommands()).isZero();
  }

  private static List<Set<PodEntry>> emptyModel() {
    List<Set<PodEntry>> model = new ArrayList<>();
    for (int i = 0; i < BLOCKS; i++) {
      model.add(new HashSet<>());
    }
    return model;
  }

  private static CompletionStage<Void> change(
      RedisBlockIndex index, Random random, List<Set<PodEntry>> model) {
    PodEntry holder = random.nextBoolean() ? A : B;
    int block = random.nextInt(BLOCKS);
    int what = random.nextInt(20);
    if (what < 10) {
      model.get(block).add(holder);
      long[] engine = {100 + block};
      return index.add(engine, new long[] {block}, List.of(holder), Context.root());
    } else if (what < 15) {
      model.get(block).remove(holder);
      return index.evict(100 + block, ENGINE, List.of(holder), Context.root());
    } else if (what < 19) {
      model.get(block).remove(holder);
      return index.evict(block, REQUEST, List.of(holder), Context.root());
    }
    model.forEach(holders -> holders.remove(holder));
    return index.clear(holder.pod());
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
