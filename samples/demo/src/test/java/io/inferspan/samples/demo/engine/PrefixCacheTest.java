package io.inferspan.samples.demo.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PrefixCacheTest {

  private final PrefixCache cache = new PrefixCache(6);

  @Test
  void storedPrefix_isCached_andOnlyNewBlocksAreReported() {
    long[] hashes = PrefixCache.hashes(tokens(0, 64));

    assertThat(cache.heldBlocks(hashes)).isZero();
    assertThat(cache.store(Arrays.copyOf(hashes, 2)).firstStored()).isZero();
    assertThat(cache.heldBlocks(hashes)).isEqualTo(2);
    assertThat(cache.store(hashes).firstStored()).isEqualTo(2);
    assertThat(cache.store(hashes).firstStored()).isEqualTo(4);
  }

  @Test
  void incompleteBlock_hasNoHash() {
    assertThat(PrefixCache.hashes(tokens(0, 15))).isEmpty();
    assertThat(PrefixCache.hashes(tokens(0, 33))).hasSize(2);
  }

  @Test
  void sameTokensAfterAnotherPrefix_areAnotherBlock() {
    int[] twice = IntStream.concat(IntStream.range(0, 16), IntStream.range(0, 16)).toArray();

    assertThat(PrefixCache.hashes(twice)).doesNotHaveDuplicates();
  }

  @Test
  void leastRecentlyUsedBlock_isEvictedFirst() {
    long[] first = PrefixCache.hashes(tokens(0, 48));
    long[] second = PrefixCache.hashes(tokens(1_000, 48));
    cache.store(first);
    cache.store(second);
    assertThat(cache.heldBlocks(first)).isEqualTo(3);

    PrefixCache.Change change = cache.store(PrefixCache.hashes(tokens(2_000, 32)));

    assertThat(change.evicted()).containsExactly(second[0], second[1]);
    assertThat(cache.heldBlocks(first)).isEqualTo(3);
    assertThat(cache.heldBlocks(second)).isZero();
  }

  private static int[] tokens(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }
}
