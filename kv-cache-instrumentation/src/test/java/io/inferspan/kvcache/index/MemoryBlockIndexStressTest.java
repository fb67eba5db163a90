package io.inferspan.kvcache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Many threads work on the same blocks, each for its own pods, so that each knows exactly what it
 * must find regardless of the others.
 */
class MemoryBlockIndexStressTest {

  private static final long SEED = 20261121;
  private static final int THREADS = 4;
  private static final int BLOCKS = 300;
  private static final int STEPS = 6_000;
  private static final long[] NO_ENGINE = {};
  private static final long HASH_OF_BLOCK = 1_000_000;

  private final MemoryBlockIndex index = MemoryBlockIndex.builder().podCacheSize(1_000).build();

  @Test
  void eachThread_findsExactlyItsBlocks() throws Exception {
    List<Set<PodEntry>> left = new ArrayList<>();
    for (long block = 0; block < BLOCKS; block++) {
      left.add(new HashSet<>());
    }
    for (Map<Long, Set<PodEntry>> model : inParallel(thread -> new Worker(thread)::work)) {
      model.forEach((block, holders) -> left.get(block.intValue()).addAll(holders));
    }

    BlockHits hits = new BlockHits();
    index.lookup(allBlocks(), Set.of(), hits, Context.root());
    for (int block = 0; block < BLOCKS; block++) {
      assertThat(hits.at(block)).containsExactlyInAnyOrderElementsOf(left.get(block));
    }
    long held = left.stream().filter(holders -> !holders.isEmpty()).count();
    Awaited.until("empty blocks are gone", () -> index.size() == held);
    index.close();
  }

  @Test
  void aPodClearedDuringAnAdd_isCompletelyPresentOrAbsent() throws Exception {
    int rounds = 400;
    CyclicBarrier start = new CyclicBarrier(THREADS);
    inParallel(
        thread ->
            () -> {
              for (int round = 0; round < rounds; round++) {
                start.await(20, TimeUnit.SECONDS);
                PodEntry pod = PodEntry.of("pod-" + round, "gpu");
                if (thread == 0) {
                  index.add(NO_ENGINE, allBlocks(), List.of(pod), Context.root());
                } else {
                  index.clear(pod.pod());
                }
                start.await(20, TimeUnit.SECONDS);
                assertWholeOrGone(pod, "at once");
                start.await(20, TimeUnit.SECONDS);
                if (thread == 0 && round % 2 == 0) {
                  index.clear(pod.pod());
                }
              }
              return Map.of();
            });
    // Nothing is left to sweep once a block that only a cleared pod holds is gone.
    index.add(NO_ENGINE, new long[] {-1}, List.of(PodEntry.of("last", "gpu")), Context.root());
    index.clear("last");
    Awaited.until("it is swept", () -> index.size() <= BLOCKS);
    for (int round = 0; round < rounds; round++) {
      assertWholeOrGone(PodEntry.of("pod-" + round, "gpu"), "in the end");
    }
    index.close();
  }

  private void assertWholeOrGone(PodEntry pod, String when) {
    BlockHits hits = new BlockHits();
    index.lookup(allBlocks(), Set.of(pod.pod()), hits, Context.root());
    int held = 0;
    for (int block = 0; block < BLOCKS; block++) {
      held += hits.at(block).length;
    }
    assertThat(held).as("%s %s", pod.pod(), when).isIn(0, BLOCKS);
  }

  @Test
  void aHashThatManyAddAndEvict_isKnownWhileItsBlockIsHeld() throws Exception {
    long[] block = {7};
    long[] hash = {HASH_OF_BLOCK};
    inParallel(
        thread ->
            () -> {
              PodEntry own = PodEntry.of("pod-" + thread, "gpu");
              BlockHits hits = new BlockHits();
              for (int i = 0; i < 30_000; i++) {
                index.add(hash, block, List.of(own), Context.root());
                index.evict(hash[0], KeyType.ENGINE, List.of(own), Context.root());
                index.lookup(block, Set.of(own.pod()), hits, Context.root());
                assertThat(hits.at(0).length).as("step %d", i).isZero();
              }
              return Map.of();
            });

    assertThat(index.size()).isZero();
    index.close();
  }

  private static List<Map<Long, Set<PodEntry>>> inParallel(Work work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Map<Long, Set<PodEntry>>>> running = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        running.add(threads.submit(work.of(thread)));
      }
      List<Map<Long, Set<PodEntry>>> results = new ArrayList<>();
      for (Future<Map<Long, Set<PodEntry>>> each : running) {
        results.add(each.get(60, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  private static long[] allBlocks() {
    return LongStream.range(0, BLOCKS).toArray();
  }

  private interface Work {
    Callable<Map<Long, Set<PodEntry>>> of(int thread);
  }

  private final class Worker {

    private final SplittableRandom random;
    private final List<PodEntry> own;
    private final Set<String> ownPods;
    private final Map<Long, Set<PodEntry>> model = new HashMap<>();
    private final BlockHits hits = new BlockHits();

    Worker(int thread) {
      this.random = new SplittableRandom(SEED + thread);
      String one = "pod-" + thread + "-a";
      String other = "pod-" + thread + "-b";
      this.ownPods = Set.of(one, other);
      this.own =
          List.of(
              PodEntry.of(one, "gpu"),
              PodEntry.of(one, "cpu"),
              PodEntry.of(other, "gpu"),
              new PodEntry(other, "gpu", true, false, 0));
    }

    Map<Long, Set<PodEntry>> work() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(step % 50 == 0 ? 5 : 4)) {
          case 0, 1 -> add();
          case 2 -> evict();
          case 3 -> check(step);
          default -> clear();
        }
      }
      check(STEPS);
      return model;
    }

    private void add() {
      long[] blocks = someBlocks();
      List<PodEntry> holders = someHolders();
      long[] hashes = LongStream.of(blocks).map(block -> block + HASH_OF_BLOCK).toArray();
      index.add(hashes, blocks, holders, Context.root());
      for (long block : blocks) {
        model.computeIfAbsent(block, b -> new HashSet<>()).addAll(holders);
      }
    }

    private void evict() {
      for (long block : someBlocks()) {
        List<PodEntry> holders = someHolders();
        if (random.nextBoolean()) {
          index.evict(block, KeyType.REQUEST, holders, Context.root());
        } else {
          // While this thread holds the block, its hash must be known, whatever others evict.
          index.evict(block + HASH_OF_BLOCK, KeyType.ENGINE, holders, Context.root());
        }
        model.getOrDefault(block, new HashSet<>()).removeAll(holders);
      }
    }

    private void clear() {
      String pod = own.get(random.nextInt(own.size())).pod();
      index.clear(pod);
      model.values().forEach(holders -> holders.removeIf(entry -> entry.pod().equals(pod)));
    }

    private void check(int step) {
      long[] blocks = someBlocks();
      index.lookup(blocks, ownPods, hits, Context.root());
      for (int i = 0; i < blocks.length; i++) {
        assertThat(Arrays.asList(hits.at(i)))
            .as("seed %d, step %d, block %d", SEED, step, blocks[i])
            .containsExactlyInAnyOrderElementsOf(model.getOrDefault(blocks[i], Set.of()));
      }
    }

    private long[] someBlocks() {
      long first = random.nextInt(BLOCKS - 20);
      return LongStream.range(first, first + 1 + random.nextInt(20)).toArray();
    }

    private List<PodEntry> someHolders() {
      int first = random.nextInt(own.size());
      return own.subList(first, first + 1 + random.nextInt(own.size() - first));
    }
  }
}
