package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.score.LongestPrefixScorer;
import io.inferspan.kvcache.score.PodScores;
import io.opentelemetry.context.Context;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the lookup of a prompt of 500 blocks in indexes of increasing size.
 *
 * <p>Repeating one prompt shows the cost of the index. Alternating between prompts shows the cost
 * of memory, because a prompt's blocks are no longer in the processor's caches when it is looked up
 * again.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(value = 2, jvmArgsAppend = "-Xmx3g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CostCurveBenchmark {

  private static final int BLOCKS = 500;

  private final MemoryBlockIndex index =
      MemoryBlockIndex.builder().podCacheSize(Prompts.PODS).build();
  private final LongestPrefixScorer scorer = LongestPrefixScorer.withDefaults();
  private final BlockHits hits = new BlockHits();
  private long[][] prompts = {};
  private int turn;

  @Param({"1000", "10000", "100000", "1000000"})
  int indexed;

  @Setup
  public void fill() {
    prompts = Prompts.of(indexed / BLOCKS, BLOCKS);
    for (long[] prompt : prompts) {
      Prompts.addByPod(index, prompt);
    }
    if (index.size() != indexed) {
      throw new IllegalStateException(
          indexed + " blocks were added, but " + index.size() + " are indexed");
    }
  }

  @TearDown
  public void close() {
    index.close();
  }

  @Benchmark
  public PodScores samePrompt() {
    return score(prompts[0]);
  }

  @Benchmark
  public PodScores promptsInTurn() {
    turn = turn + 1 == prompts.length ? 0 : turn + 1;
    return score(prompts[turn]);
  }

  private PodScores score(long[] prompt) {
    index.lookup(prompt, Set.of(), hits, Context.root());
    PodScores scores = scorer.score(hits, prompt.length);
    if (scores.max() != BLOCKS) {
      throw new IllegalStateException("Not all blocks are found");
    }
    return scores;
  }
}
