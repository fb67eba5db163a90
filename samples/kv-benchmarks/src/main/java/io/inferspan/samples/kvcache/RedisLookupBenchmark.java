package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.redis.RedisBlockIndex;
import io.inferspan.kvcache.redis.RedisIndexOptions;
import io.inferspan.kvcache.score.LongestPrefixScorer;
import io.inferspan.kvcache.score.PodScores;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures lookup and scoring of the prompt of {@link LookupBenchmark} in a local Redis server. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RedisLookupBenchmark {

  private static final int BLOCKS = 2_000;

  private final LongestPrefixScorer scorer = LongestPrefixScorer.withDefaults();
  private final long[] prompt = Prompts.of(1, BLOCKS)[0];
  private final BlockHits hits = new BlockHits();
  private @Nullable LocalRedis redis;
  private @Nullable RedisBlockIndex index;

  @Setup
  public void fill() throws IOException {
    LocalRedis started = LocalRedis.start();
    redis = started;
    try {
      fill(started.url());
    } catch (RuntimeException e) {
      // JMH does not tear down after a failed setup.
      close();
      throw e;
    }
  }

  private void fill(String url) {
    // Long, because a lookup that times out would not be measured.
    Duration timeout = Duration.ofSeconds(10);
    RedisBlockIndex opened =
        RedisBlockIndex.open(
            RedisIndexOptions.single(url).lookupTimeout(timeout).writeTimeout(timeout).build());
    index = opened;
    Prompts.addByPod(opened, prompt);
    if (score(opened).max() != BLOCKS) {
      throw new IllegalStateException("Not all blocks are found: " + hits.failure());
    }
  }

  @TearDown
  public void close() {
    if (index != null) {
      index.close();
    }
    if (redis != null) {
      redis.close();
    }
  }

  @Benchmark
  public PodScores redisLookupAndScore() {
    return score(Objects.requireNonNull(index));
  }

  private PodScores score(RedisBlockIndex opened) {
    opened.lookup(prompt, Set.of(), hits, Context.root()).toCompletableFuture().join();
    return scorer.score(hits, prompt.length);
  }
}
