package io.inferspan.samples.kvcache;

import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.block.PlainBlockKeys;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures computing the block keys of a prompt of 32,768 tokens, compared with simple
 * implementations of the same algorithms.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BlockKeysBenchmark {

  private static final String MODEL = "meta-llama/Llama-3.1-8B-Instruct";
  private static final int TOKENS = 32_768;
  private static final int BLOCK = 16;
  private static final int VOCABULARY = 128_256;

  private final BlockKeys cborFnv = BlockKeys.withDefaults();
  private final BlockKeys xxh64 = BlockKeys.builder().algorithm("xxh64").build();
  private final int[] tokens = new SplittableRandom(1).ints(TOKENS, 0, VOCABULARY).toArray();
  private final List<Integer> boxed = Arrays.stream(tokens).boxed().toList();
  private final List<List<String>> noExtras = Collections.nCopies(TOKENS / BLOCK, List.of());
  private final byte[][] encoded = PlainBlockKeys.cborBlocks("", MODEL, boxed, noExtras);
  private final long before = PlainBlockKeys.cborParent("", MODEL);

  /** Checks that all implementations compute the same keys. */
  @Setup
  public void compare() {
    same(cborFnv(), plainCborFnv());
    same(fnvAlone(), plainCborFnv());
    same(xxh64(), plainXxh64());
  }

  private static void same(long[] ours, List<Long> plain) {
    if (!Arrays.equals(ours, plain.stream().mapToLong(Long::longValue).toArray())) {
      throw new IllegalStateException("The simple implementation computes other keys");
    }
  }

  @Benchmark
  public long[] cborFnv() {
    return cborFnv.of(MODEL, tokens);
  }

  @Benchmark
  public long[] xxh64() {
    return xxh64.of(MODEL, tokens);
  }

  /** Measures FNV-1a alone, over bytes that were encoded beforehand. */
  @Benchmark
  public long[] fnvAlone() {
    return PlainBlockKeys.fnvAlone(before, encoded);
  }

  @Benchmark
  public List<Long> plainCborFnv() {
    return PlainBlockKeys.cborFnv("", MODEL, boxed, noExtras);
  }

  @Benchmark
  public List<Long> plainXxh64() {
    return PlainBlockKeys.xxh64("", MODEL, boxed, noExtras);
  }
}
