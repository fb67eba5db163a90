package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.score.LongestPrefixScorer;
import io.inferspan.kvcache.score.PodScores;
import io.opentelemetry.context.Context;
import java.util.Set;
import java.util.concurrent.CompletionStage;
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
 * Measures lookup and scoring of a prompt of 2,000 blocks that 16 pods hold, in an in-memory index.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LookupBenchmark {

  private static final int BLOCKS = 2_000;

  private final MemoryBlockIndex index =
      MemoryBlockIndex.builder().podCacheSize(Prompts.PODS).build();
  private final LongestPrefixScorer scorer = LongestPrefixScorer.withDefaults();
  private final long[] prompt = Prompts.of(1, BLOCKS)[0];
  private final BlockHits hits = new BlockHits();

  /** How the prompt is stored in the index: pod by pod, as engines report it, or block by block. */
  @Param({"byPod", "byBlock"})
  String stored = "";

  @Setup
  public void fill() {
    if (stored.equals("byPod")) {
      Prompts.addByPod(index, prompt);
    } else {
      Prompts.addByBlock(index, prompt);
    }
    if (lookupAndScore().max() != BLOCKS) {
      throw new IllegalStateException("Not all blocks are found");
    }
  }

  @TearDown
  public void close() {
    index.close();
  }

  @Benchmark
  public CompletionStage<BlockHits> lookup() {
    return index.lookup(prompt, Set.of(), hits, Context.root());
  }

  /** Scores the hits of the last lookup. */
  @Benchmark
  public PodScores score() {
    return scorer.score(hits, prompt.length);
  }

  @Benchmark
  public PodScores lookupAndScore() {
    index.lookup(prompt, Set.of(), hits, Context.root());
    return scorer.score(hits, prompt.length);
  }
}
