package io.inferspan.kvcache.events;

import static io.inferspan.kvcache.events.EventBytes.list;
import static io.inferspan.kvcache.events.EventBytes.removed;
import static io.inferspan.kvcache.events.EventBytes.stored;
import static io.inferspan.kvcache.events.EventBytes.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KvEventIndexerTest {

  private static final String POD = "10.0.0.1:8000";
  private static final String MODEL = "a-model";
  private static final BlockKeys KEYS = BlockKeys.withDefaults();

  private final FakeBlockIndex index = new FakeBlockIndex();
  private final KvEventCounts counts = new KvEventCounts();
  private final KvEventOptions options =
      KvEventOptions.builder().maxBlocksPerPod(100).writeTimeout(Duration.ofMillis(50)).build();
  private final AtomicLong outages = new AtomicLong();
  private final IndexWriter writer = new IndexWriter(index, options, counts, outages);
  private final KvEventIndexer indexer = new KvEventIndexer(KEYS, writer, counts);
  private final KvEventDecoder decoder = new KvEventDecoder();

  private void receive(Object... events) {
    receive(POD, events);
  }

  private void receive(String pod, Object... events) {
    KvEventBatch batch = Objects.requireNonNull(decoder.decode(EventBytes.batch(events)));
    indexer.apply(pod, MODEL, batch, Context.root());
    writer.maintain();
  }

  private static int[] ints(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }

  private static Long[] keys(String model, int... tokens) {
    return java.util.Arrays.stream(KEYS.of(model, tokens)).boxed().toArray(Long[]::new);
  }

  /** Runs maintenance until the index is complete again, as a worker does. */
  private void recovered() {
    Awaited.until(
        "the index is true again",
        () -> {
          writer.maintain();
          return !writer.pod(POD).needsRepair();
        });
  }

  @Test
  void storedBlocks_areFoundUnderTheKeysOfLookups() {
    receive(list("BlockStored", List.of(1L, 2L), null, tokens(1, 32), 16));

    assertThat(index.held(POD)).containsExactlyInAnyOrder(keys(MODEL, ints(1, 32)));
    assertThat(counts.get(KvEventCount.STORED_BLOCKS)).isEqualTo(2);
  }

  @Test
  void aParent_continuesItsChain() {
    receive(stored(1, null, 1), stored(2, 1L, 17));
    receive(stored(3, 2L, 33));

    assertThat(index.held(POD)).containsExactlyInAnyOrder(keys(MODEL, ints(1, 48)));
  }

  @Test
  void parentFromAnotherPod_isKnown() {
    receive("another", stored(1, null, 1));

    receive(stored(2, 1L, 17));

    assertThat(index.held(POD)).containsExactly(keys(MODEL, ints(1, 32))[1]);
  }

  @Test
  void unknownParent_skipsTheEvent() {
    receive(stored(2, 1L, 17));

    assertThat(index.held(POD)).isEmpty();
    assertThat(counts.skipped(SkipReason.UNKNOWN_PARENT)).isEqualTo(1);
  }

  @Test
  void loraName_isTheModel() {
    receive(
        list(
            "BlockStored",
            List.of(1L),
            null,
            tokens(1, 16),
            16,
            1,
            "GPU",
            "an-adapter",
            list(List.of("an-adapter"))));

    assertThat(index.held(POD)).containsExactly(keys("an-adapter", ints(1, 16)));
  }

  @Test
  void extras_areInTheKeys() {
    receive(
        list(
            "BlockStored",
            List.of(1L, 2L),
            null,
            tokens(1, 32),
            16,
            null,
            null,
            null,
            list(List.of("image", "salt"), null)));

    long[] expected =
        KEYS.of(
            MODEL,
            ints(1, 32),
            BlockExtras.ofBlocks(List.of(List.of("image"), List.of())).withCacheSalt("salt"));
    assertThat(index.held(POD)).containsExactlyInAnyOrder(expected[0], expected[1]);
  }

  @Test
  void extrasOfOtherBlocks_skipTheEvent() {
    receive(
        list(
            "BlockStored",
            List.of(1L),
            null,
            tokens(1, 32),
            32,
            null,
            null,
            null,
            list(List.of("image"))));

    assertThat(counts.skipped(SkipReason.EXTRAS)).isEqualTo(1);
    assertThat(index.held(POD)).isEmpty();
  }

  @Test
  void largerBlocksOfTheEngine_standForSeveralKeys() {
    receive(list("BlockStored", List.of(1L, 2L), null, tokens(1, 64), 32));
    assertThat(index.held(POD)).hasSize(4);
    receive(list("BlockStored", List.of(3L), 2L, tokens(65, 32), 32));
    assertThat(index.held(POD)).containsExactlyInAnyOrder(keys(MODEL, ints(1, 96)));

    receive(removed(1));

    Long[] all = keys(MODEL, ints(1, 96));
    assertThat(index.held(POD)).containsExactlyInAnyOrder(all[2], all[3], all[4], all[5]);
  }

  @Test
  void fewerTokensThanABlock_areSkipped() {
    receive(list("BlockStored", List.of(1L), null, tokens(1, 8), 8));

    assertThat(counts.skipped(SkipReason.TOO_SHORT)).isEqualTo(1);
  }

  @Test
  void cachesOfAnotherKind_areNotIndexed() {
    for (String kind : List.of("sliding_window", "mamba", "full_attention")) {
      receive(
          list(
              "BlockStored",
              List.of((long) kind.length()),
              null,
              tokens(kind.length(), 16),
              16,
              null,
              null,
              null,
              null,
              0,
              kind));
    }
    assertThat(index.held(POD)).hasSize(1);
    assertThat(counts.skipped(SkipReason.CACHE_KIND)).isEqualTo(2);
  }

  @Test
  void blocksWithoutTokens_moveToATier() {
    receive(stored(1, null, 1), stored(2, 1L, 17));

    receive(list("BlockStored", List.of(1L, 2L, 99L), null, List.of(), 16, null, "CPU"));
    receive(removed(1, 2));

    assertThat(index.held(POD, "gpu")).isEmpty();
    assertThat(index.held(POD, "cpu")).containsExactlyInAnyOrder(keys(MODEL, ints(1, 32)));
    assertThat(counts.skipped(SkipReason.UNKNOWN_BLOCK)).isEqualTo(1);
  }

  @Test
  void case45_duplicateRemove_isSuppressed() {
    receive(stored(1, null, 1), stored(1, null, 1), removed(1));
    assertThat(index.held(POD)).hasSize(1);

    receive(removed(1));
    assertThat(index.held(POD)).isEmpty();
  }

  @Test
  void duplicates_areCountedPerTierAndGroup() {
    receive(
        stored(1, null, 1),
        list("BlockStored", List.of(1L), null, tokens(1, 16), 16, null, "cpu"),
        list("BlockStored", List.of(1L), null, tokens(1, 16), 16, null, "gpu", null, null, 3),
        removed(1));

    assertThat(index.held(POD, "cpu")).hasSize(1);
    assertThat(index.held(POD, "gpu")).hasSize(1);
    receive(list("BlockRemoved", List.of(1L), "GPU", 3));
    assertThat(index.held(POD, "gpu")).isEmpty();
  }

  @Test
  void aBlockFromBeforeThisProcess_isRemoved() {
    index.add(new long[] {1}, new long[] {10}, List.of(PodEntry.of(POD, "gpu")), Context.root());

    receive(removed(1));

    assertThat(index.held(POD)).isEmpty();
  }

  @Test
  void case45_allBlocksCleared_takesThePodFromTheIndex() {
    receive("another", stored(1, null, 1));
    receive(stored(1, null, 1), stored(1, null, 1), list("AllBlocksCleared"), stored(5, null, 5));

    assertThat(index.held(POD)).containsExactly(keys(MODEL, ints(5, 16)));
    assertThat(index.held("another")).hasSize(1);
    receive(stored(1, null, 1), removed(1));
    assertThat(index.held(POD)).hasSize(1);
  }

  @Test
  void placesAndBlocksBeyondTheLimit_areSkipped() {
    for (int i = 0; i < 150; i++) {
      receive(stored(i + 1, null, i * 100));
    }
    assertThat(index.held(POD)).hasSize(100);
    for (int i = 0; i < 40; i++) {
      receive("another", list("BlockRemoved", List.of(1L), "tier" + i));
    }
    assertThat(counts.skipped(SkipReason.TOO_MANY)).isEqualTo(50 + 8);
  }

  @Test
  void failedWrites_areRepaired() {
    receive(stored(1, null, 1), stored(2, null, 100));
    index.down(true);
    receive(removed(1));
    receive(stored(3, 2L, 116));
    assertThat(counts.get(KvEventCount.FAILED_WRITES)).isPositive();
    assertThat(index.held(POD)).hasSize(2);

    index.down(false);
    recovered();

    assertThat(index.held(POD)).containsExactlyInAnyOrder(keys(MODEL, ints(100, 32)));
    receive(stored(4, 3L, 132), removed(2));
    assertThat(index.held(POD))
        .containsExactlyInAnyOrder(keys(MODEL, ints(100, 48))[1], keys(MODEL, ints(100, 48))[2]);
  }

  @Test
  void aFailedRemoval_isRepaired() {
    receive(stored(1, null, 1), stored(2, null, 100));
    index.down(true);
    receive(removed(1));
    index.down(false);
    recovered();

    assertThat(index.held(POD)).containsExactly(keys(MODEL, ints(100, 16)));
  }

  @Test
  void anIndexThatLostItsBlocks_isRewritten_alsoForPodsWithoutAFailedWrite() {
    receive("another", stored(1, null, 1), stored(2, 1L, 17));
    receive("empty", stored(1, null, 1), removed(1));
    receive(list("BlockStored", List.of(7L), null, tokens(1, 48), 48));
    index.down(true);
    receive(stored(8, null, 1000));
    index.forget();

    index.down(false);
    recovered();
    Awaited.until(
        "the other pod is back",
        () -> {
          writer.maintain();
          return index.held("another").size() == 2;
        });

    assertThat(index.held(POD)).hasSize(4);
    receive(removed(7));
    assertThat(index.held(POD)).hasSize(1);
  }

  @Test
  void podsOfOtherWorkers_areCheckedToo() {
    receive(stored(1, null, 1));
    index.forget();

    outages.incrementAndGet();
    recovered();

    assertThat(index.held(POD)).hasSize(1);
  }

  @Test
  void anIndexThatDisconnectedBetweenTwoWrites_isRewritten() {
    receive(stored(1, null, 1));
    index.forget();

    index.loseTouch();
    recovered();

    assertThat(index.held(POD)).hasSize(1);
  }

  @Test
  void podsThatTheIndexStillHas_areNotRewritten() {
    receive(stored(1, null, 1));
    List<String> before = index.writes();

    outages.incrementAndGet();
    recovered();

    assertThat(index.writes()).isEqualTo(before);
  }

  @Test
  void aClearingThatFails_isTriedAgain() {
    receive(stored(1, null, 1));
    index.down(true);
    receive(list("AllBlocksCleared"));
    receive(stored(2, null, 50));
    assertThat(index.held(POD)).containsExactly(keys(MODEL, ints(1, 16)));

    index.down(false);
    recovered();

    assertThat(index.held(POD)).containsExactly(keys(MODEL, ints(50, 16)));
  }

  @Test
  void anIndexThatNeverAnswers_costsOneWait() {
    receive(stored(1, null, 1));
    index.silent(true);
    for (int i = 0; i < 200; i++) {
      receive("pod" + i, stored(10 + i, null, i));
    }
    // Each wait ends with at least one failed write.
    assertThat(counts.get(KvEventCount.FAILED_WRITES)).isBetween(1L, 20L);
  }

  @Test
  void aPodThatIsGone_isForgotten() {
    receive(stored(1, null, 1));
    index.down(true);
    writer.forget(POD);
    index.down(false);
    Awaited.until(
        "the pod is gone",
        () -> {
          writer.maintain();
          return index.held(POD).isEmpty();
        });
  }
}
