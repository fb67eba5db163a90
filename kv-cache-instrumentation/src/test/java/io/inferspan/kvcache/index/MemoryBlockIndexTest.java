package io.inferspan.kvcache.index;

import static io.inferspan.kvcache.index.KeyType.ENGINE;
import static io.inferspan.kvcache.index.KeyType.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.inferspan.kvcache.Allocations;
import io.inferspan.kvcache.Awaited;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MemoryBlockIndexTest extends BlockIndexContract {

  private static final long[] PROMPT = LongStream.rangeClosed(1, 500).toArray();

  @Override
  protected BlockIndex newIndex() {
    return MemoryBlockIndex.withDefaults();
  }

  @Override
  protected boolean stopsAtAGap() {
    return false;
  }

  @Test
  void holders_areInTheOrderOfAdding_andAddingAgainRenews() {
    add(keys(1), A, B);
    assertThat(holders(1)).containsExactly(A, B);

    add(keys(1), A);
    assertThat(holders(1)).containsExactly(B, A);
  }

  @Test
  void knownPods_areCounted() {
    MemoryBlockIndex memory = use(MemoryBlockIndex.builder());
    add(keys(1, 2), pod(0), pod(1));
    add(keys(3), pod(2));
    assertThat(memory.knownPods()).isEqualTo(3);

    memory.clear(pod(1).pod());
    assertThat(memory.knownPods()).isEqualTo(2);
  }

  @Test
  void oneHolderTooMany_displacesTheOldest_andIsCounted() {
    MemoryBlockIndex small = use(MemoryBlockIndex.builder().podCacheSize(3));
    add(keys(1, 2), pod(0), pod(1), pod(2));
    add(keys(1), pod(0));
    add(keys(1), pod(3));

    assertThat(holders(1)).containsExactly(pod(2), pod(0), pod(3));
    assertThat(small.displacedHolders()).isEqualTo(1);

    add(keys(2), pod(3), pod(4), pod(5), pod(6));
    assertThat(holders(2)).containsExactly(pod(4), pod(5), pod(6));
    assertThat(small.displacedHolders()).isEqualTo(5);
  }

  @Test
  void tenHoldersPerBlock_areTheDefault() {
    for (int i = 0; i < 12; i++) {
      add(keys(1), pod(i));
    }

    assertThat(holders(1)).hasSize(10).doesNotContain(pod(0), pod(1));
  }

  @Test
  void size_countsBlocksWithHolders() {
    MemoryBlockIndex memory = use(MemoryBlockIndex.builder());
    add(keys(1, 2, 3), A, B);
    evict(1, REQUEST, A);
    assertThat(memory.size()).isEqualTo(3);

    evict(1, REQUEST, B);
    assertThat(memory.size()).isEqualTo(2);
  }

  @Test
  void clearing_isSeenAtOnce_andLeavesNothingBehind() throws Exception {
    MemoryBlockIndex memory = use(MemoryBlockIndex.builder());
    add(PROMPT, A);
    add(keys(1), B);
    CompletionStage<Void> cleared = index.clear(A.pod());

    assertThat(cleared.toCompletableFuture()).isCompleted();
    assertThat(holders(1)).containsExactly(B);
    assertThat(holders(2)).isEmpty();
    Awaited.until("only B's block is left", () -> memory.size() == 1);
  }

  @Test
  void aPodClearedRepeatedly_isPresentOnlyAfterItIsAddedAgain() throws Exception {
    MemoryBlockIndex memory = use(MemoryBlockIndex.builder());
    for (int round = 0; round < 200; round++) {
      add(PROMPT, A);
      assertThat(holders(PROMPT[round])).containsExactly(A);
      done(index.clear(A.pod()));
      assertThat(holders(PROMPT[round])).isEmpty();
    }
    Awaited.until("no block is left", () -> memory.size() == 0);
  }

  @Test
  void anEvictedHash_isForgotten_beforeTheSweepOfAClearedPod() {
    add(keys(101), keys(1), A, B);
    index.clear(A.pod());
    evict(101, ENGINE, B);

    assertThat(requestKey(101)).isEmpty();
  }

  @Test
  void tooManyBlocks_evictOthers_andAreCounted() {
    MemoryBlockIndex small = use(MemoryBlockIndex.builder().maxBlocks(1_000));
    add(LongStream.range(0, 10_000).toArray(), A);

    assertThat(small.size()).isLessThanOrEqualTo(1_000).isGreaterThan(900);
    assertThat(small.evictions()).isEqualTo(10_000 - small.size());
  }

  @Test
  void tooManyBytes_evictBlocks_andAreCounted() {
    MemoryBlockIndex small = use(MemoryBlockIndex.builder().maxBytes(1 << 20).podCacheSize(64));
    long[] many = LongStream.range(0, 10_000).toArray();
    add(many, A);
    long light = small.size();
    add(many, IntStream.range(0, 64).mapToObj(MemoryBlockIndexTest::pod).toArray(PodEntry[]::new));

    // Two thirds of the bytes are for blocks; one weighs 152 with one holder, 400 with 64.
    assertThat(light).isBetween(4_000L, (1L << 20) * 2 / 3 / 152 + 1);
    assertThat(small.size()).isBetween(1_500L, (1L << 20) * 2 / 3 / 400 + 1);
    assertThat(small.evictions()).isGreaterThanOrEqualTo(10_000 - small.size());
  }

  @Test
  void tooManyEngineHashes_evictOthers_andAreCounted() {
    MemoryBlockIndex small = use(MemoryBlockIndex.builder().maxBlocks(1_000));
    long[] hashes = LongStream.range(50_000, 60_000).toArray();
    add(hashes, LongStream.range(0, 10_000).toArray(), A);

    long known = LongStream.of(hashes).filter(hash -> requestKey(hash).isPresent()).count();
    assertThat(known).isLessThanOrEqualTo(1_000).isGreaterThan(900);
    assertThat(small.engineEvictions()).isEqualTo(10_000 - known);
  }

  @Test
  void aLimitOfOneBlock_isAllowed() {
    MemoryBlockIndex one = use(MemoryBlockIndex.builder().maxBlocks(1));
    add(PROMPT, A);

    assertThat(one.size()).isEqualTo(1);
  }

  @Test
  void equalHolders_areOneObject_andABlocksHoldersOneArrayForTheChain() {
    add(PROMPT, PodEntry.of("10.0.0.1:8000", "gpu"));
    add(keys(9_999), PodEntry.of("10.0.0.1:8000", "gpu"));
    add(PROMPT, B);

    BlockHits hits = lookup(PROMPT);
    assertThat(hits.at(499)).isSameAs(hits.at(0));
    assertThat(holders(9_999)[0]).isSameAs(hits.at(0)[0]);
  }

  @Test
  void aLookup_allocatesNothing() {
    use(MemoryBlockIndex.builder().podCacheSize(16));
    IntStream.range(0, 16).forEach(i -> add(PROMPT, pod(i)));
    Set<String> everybody = Set.copyOf(IntStream.range(0, 16).mapToObj(i -> pod(i).pod()).toList());

    assertThat(bytesPerLookup(Set.of())).isZero();
    assertThat(bytesPerLookup(everybody)).isZero();
  }

  private long bytesPerLookup(Set<String> pods) {
    BlockHits hits = new BlockHits();
    long bytes = Allocations.of(200, () -> index.lookup(PROMPT, pods, hits, Context.root()));
    assertThat(hits.at(PROMPT.length - 1)).hasSize(16);
    // The average of whole lookups; the runtime itself may allocate in between.
    return bytes / 200;
  }

  @Test
  void aClosedIndex_ignoresWrites_andEndsItsThread() throws Exception {
    MemoryBlockIndex memory = use(MemoryBlockIndex.builder());
    add(PROMPT, A);
    index.clear(B.pod());
    index.close();
    Awaited.until("no block is left", () -> memory.size() == 0);
    add(keys(7), A);
    done(index.clear(B.pod()));

    assertThat(holders(7)).isEmpty();
    assertThat(memory.size()).isZero();
    Awaited.until(
        "its thread has ended",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("inferspan-kv-sweep")));
  }

  @Test
  void anInvalidLimit_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MemoryBlockIndex.builder().podCacheSize(0))
        .withMessage("podCacheSize is 0; it must be between 1 and 32767");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MemoryBlockIndex.builder().maxBlocks(-1))
        .withMessage("maxBlocks is -1; it must be between 1 and 1099511627776");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MemoryBlockIndex.builder().maxBytes(0))
        .withMessageStartingWith("maxBytes is 0; it must be between 1 and ");
  }

  private MemoryBlockIndex use(MemoryBlockIndex.Builder builder) {
    index.close();
    MemoryBlockIndex memory = builder.build();
    index = memory;
    return memory;
  }

  private static PodEntry pod(int number) {
    return PodEntry.of("10.0.1." + number + ":8000", "gpu");
  }

  /** An empty list adds no holders and changes no block. */
  @Test
  void noHolders_addNothing() {
    done(index.add(keys(101), keys(1), List.of(), Context.root()));

    assertThat(holders(1)).isEmpty();
    assertThat(requestKey(101)).isEmpty();
  }
}
