package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Creates prompts, as block keys, and adds them to an index as blocks that 16 pods hold. */
final class Prompts {

  static final int PODS = 16;

  private static final long[] NO_ENGINE = {};

  private Prompts() {}

  /** Creates prompts that have no block in common. */
  static long[][] of(int count, int blocks) {
    SplittableRandom random = new SplittableRandom(1);
    long[][] prompts = new long[count][];
    for (int i = 0; i < count; i++) {
      prompts[i] = random.longs(blocks).toArray();
    }
    return prompts;
  }

  /** Adds a prompt as engines report it: all blocks of each pod. */
  static void addByPod(BlockIndex index, long[] prompt) {
    for (PodEntry pod : pods()) {
      add(index, prompt, List.of(pod));
    }
  }

  /** Adds a prompt block by block, so that no two blocks share the array of their pods. */
  static void addByBlock(BlockIndex index, long[] prompt) {
    for (long block : prompt) {
      add(index, new long[] {block}, pods());
    }
  }

  private static void add(BlockIndex index, long[] keys, List<PodEntry> pods) {
    index.add(NO_ENGINE, keys, pods, Context.root()).toCompletableFuture().join();
  }

  private static List<PodEntry> pods() {
    return IntStream.range(0, PODS)
        .mapToObj(i -> PodEntry.of("10.0.0." + i + ":8000", "gpu"))
        .toList();
  }
}
