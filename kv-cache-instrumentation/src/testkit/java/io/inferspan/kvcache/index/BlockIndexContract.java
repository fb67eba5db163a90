package io.inferspan.kvcache.index;

import static io.inferspan.kvcache.index.KeyType.ENGINE;
import static io.inferspan.kvcache.index.KeyType.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.context.Context;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of every backend of the index; each has a test class that extends this one. */
public abstract class BlockIndexContract {

  /** A pod with the block in its GPU. */
  protected static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");

  /** Another pod with the block in its GPU. */
  protected static final PodEntry B = PodEntry.of("10.0.0.2:8000", "gpu");

  /** The first pod again, in another tier. */
  protected static final PodEntry A_CPU = PodEntry.of("10.0.0.1:8000", "cpu");

  private static final long[] NO_ENGINE = {};
  private static final long BOUND_SECONDS = 10;

  /** The index under test; empty. */
  protected BlockIndex index;

  /** Makes an empty index; it is closed after the test. */
  protected abstract BlockIndex newIndex() throws Exception;

  /** Returns whether a lookup stops at the first block that none of the requested pods holds. */
  protected abstract boolean stopsAtAGap();

  @BeforeEach
  void openIndex() throws Exception {
    index = newIndex();
  }

  @AfterEach
  void closeIndex() {
    index.close();
  }

  @Test
  void unknownBlocks_haveNoHolders() {
    BlockHits hits = lookup(1, 2);

    assertThat(hits.size()).isEqualTo(2);
    assertThat(hits.failure()).isNull();
    assertThat(hits.at(0)).isEmpty();
    assertThat(hits.at(1)).isEmpty();
  }

  @Test
  void noKeys_areAnswered() {
    assertThat(lookup().size()).isZero();
  }

  @Test
  void addedHolders_areFound() {
    add(keys(1, 2), A, B);

    BlockHits hits = lookup(1, 2);
    assertThat(hits.at(0)).containsExactlyInAnyOrder(A, B);
    assertThat(hits.at(1)).containsExactlyInAnyOrder(A, B);
  }

  @Test
  void holders_addUp() {
    add(keys(1), A);
    add(keys(1), B);

    assertThat(holders(1)).containsExactlyInAnyOrder(A, B);
  }

  @Test
  void aHolderThatIsAddedTwice_countsOnce() {
    add(keys(1), A);
    add(keys(1), PodEntry.of("10.0.0.1:8000", "gpu"));

    assertThat(holders(1)).containsExactly(A);
  }

  @Test
  void aHolderAddedSeveralTimes_isRemovedByOneEviction() {
    add(keys(1), A);
    add(keys(1), A);
    evict(1, REQUEST, A);

    assertThat(holders(1)).isEmpty();
  }

  @Test
  void tiersSpeculationAndGroups_makeDifferentHolders() {
    PodEntry expected = new PodEntry(A.pod(), "gpu", true, false, 0);
    PodEntry groupZero = new PodEntry(A.pod(), "gpu", false, true, 0);
    PodEntry groupOne = new PodEntry(A.pod(), "gpu", false, true, 1);
    add(keys(1), A, A_CPU, expected, groupZero, groupOne);
    assertThat(holders(1)).containsExactlyInAnyOrder(A, A_CPU, expected, groupZero, groupOne);

    evict(1, REQUEST, expected, groupZero);
    assertThat(holders(1)).containsExactlyInAnyOrder(A, A_CPU, groupOne);
  }

  @Test
  void textOfPodsAndTiers_isKept() {
    PodEntry odd = PodEntry.of("pod<1>&\"2\"\\ \u2028é漢", "ti er");
    add(keys(1), odd);

    assertThat(holders(1)).containsExactly(odd);
  }

  @Test
  void keysAreUnsigned() {
    add(keys(-1, Long.MIN_VALUE), A);

    assertThat(holders(-1)).containsExactly(A);
    assertThat(holders(Long.MIN_VALUE)).containsExactly(A);
    assertThat(holders(1)).isEmpty();
  }

  @Test
  void aPodFilter_leavesOthersOut() {
    add(keys(1, 2), A, A_CPU, B);

    BlockHits hits = lookupOf(Set.of(A.pod(), "never heard of"), keys(1, 2));
    assertThat(hits.at(0)).containsExactlyInAnyOrder(A, A_CPU);
    assertThat(hits.at(1)).containsExactlyInAnyOrder(A, A_CPU);
  }

  @Test
  void aPodFilterThatMatchesNoHolder_findsNothing() {
    add(keys(1), A, B);

    assertThat(lookupOf(Set.of("never heard of"), keys(1)).at(0)).isEmpty();
  }

  @Test
  void afterAMissingBlock_theBackendDecides() {
    add(keys(1, 3), A);

    BlockHits hits = lookup(1, 2, 3);
    assertThat(hits.at(0)).containsExactly(A);
    assertThat(hits.at(1)).isEmpty();
    assertThat(hits.at(2)).hasSize(stopsAtAGap() ? 0 : 1);
  }

  @Test
  void afterABlockThatTheFilterEmpties_theBackendDecides() {
    add(keys(1, 3), A);
    add(keys(2), B);

    BlockHits hits = lookupOf(Set.of(A.pod()), keys(1, 2, 3));
    assertThat(hits.at(0)).containsExactly(A);
    assertThat(hits.at(1)).isEmpty();
    assertThat(hits.at(2)).hasSize(stopsAtAGap() ? 0 : 1);
  }

  @Test
  void aReusedBuffer_isEmpty() {
    add(keys(1, 2), A);
    BlockHits hits = new BlockHits();
    done(index.lookup(keys(1, 2), Set.of(), hits, Context.root()));
    BlockHits again = done(index.lookup(keys(7), Set.of(), hits, Context.root()));

    assertThat(again).isSameAs(hits);
    assertThat(again.size()).isEqualTo(1);
    assertThat(again.at(0)).isEmpty();
  }

  @Test
  void evictingByRequestKey_takesOnlyThoseHoldersOfThatBlock() {
    add(keys(1, 2), A, B);
    evict(1, REQUEST, A);

    assertThat(holders(1)).containsExactly(B);
    assertThat(holders(2)).containsExactlyInAnyOrder(A, B);
  }

  @Test
  void evictingAHolderThatIsNotThere_changesNothing() {
    add(keys(1), A);
    evict(1, REQUEST, B);
    evict(2, REQUEST, A);

    assertThat(holders(1)).containsExactly(A);
  }

  @Test
  void aBlockWithoutHolders_canBeAddedAgain() {
    add(keys(1), A);
    evict(1, REQUEST, A);
    assertThat(holders(1)).isEmpty();

    add(keys(1), B);
    assertThat(holders(1)).containsExactly(B);
  }

  @Test
  void anEngineHash_mapsToItsBlock() {
    add(keys(101, 102), keys(1, 2), A);

    assertThat(requestKey(101)).hasValue(1);
    assertThat(requestKey(102)).hasValue(2);
    assertThat(requestKey(1)).isEmpty();
  }

  @Test
  void aLargerEngineBlock_hasSeveralKeys_andTheLastIsTheNextParent() {
    add(keys(101, 102), keys(1, 2, 3, 4), A);
    assertThat(requestKey(101)).hasValue(2);
    assertThat(requestKey(102)).hasValue(4);

    evict(101, ENGINE, A);
    assertThat(holders(1)).isEmpty();
    assertThat(holders(2)).isEmpty();
    assertThat(holders(3)).containsExactly(A);
  }

  @Test
  void severalSmallerEngineBlocks_standForOne() {
    add(keys(101, 102, 103, 104), keys(1, 2), A);

    assertThat(requestKey(101)).hasValue(1);
    assertThat(requestKey(102)).hasValue(1);
    assertThat(requestKey(103)).hasValue(2);
    assertThat(requestKey(104)).hasValue(2);
  }

  @Test
  void anUnevenRatio_isDistributedAsInLlmd() {
    // n = 3: engine[i * 2 / 3] stands for request[i].
    add(keys(101, 102), keys(1, 2, 3), A);

    assertThat(requestKey(101)).hasValue(2);
    assertThat(requestKey(102)).hasValue(3);
  }

  @Test
  void blocksWithoutEngineHashes_areFound() {
    add(keys(1), A);

    assertThat(holders(1)).containsExactly(A);
    assertThat(requestKey(1)).isEmpty();
  }

  @Test
  void evictingByEngineHash_takesTheHolder() {
    add(keys(101), keys(1), A, B);
    evict(101, ENGINE, A);

    assertThat(holders(1)).containsExactly(B);
  }

  @Test
  void anEngineHashIsRemembered_whileAnyOfItsBlocksIsHeld() {
    add(keys(101), keys(1, 2), A);
    add(keys(2), B);
    evict(101, ENGINE, A);
    assertThat(requestKey(101)).hasValue(2);

    evict(101, ENGINE, B);
    assertThat(requestKey(101)).isEmpty();
  }

  @Test
  void evictingByAnUnknownEngineHash_changesNothing() {
    add(keys(101), keys(1), A);
    evict(999, ENGINE, A);
    // A request key is never an engine's hash, even with the same number.
    evict(1, ENGINE, A);

    assertThat(holders(1)).containsExactly(A);
  }

  @Test
  void clearing_takesOnePodFromAllBlocks() {
    add(keys(101, 102, 103), keys(1, 2, 3), A, A_CPU, B);
    add(keys(4), A);
    done(index.clear(A.pod()));

    BlockHits hits = lookup(1, 2, 3);
    assertThat(hits.at(0)).containsExactly(B);
    assertThat(hits.at(1)).containsExactly(B);
    assertThat(hits.at(2)).containsExactly(B);
    assertThat(holders(4)).isEmpty();
  }

  @Test
  void aClearedPod_canBeAddedAgain() {
    add(keys(1, 2), A, B);
    done(index.clear(A.pod()));
    add(keys(1), A);

    assertThat(holders(1)).containsExactlyInAnyOrder(A, B);
    assertThat(holders(2)).containsExactly(B);
  }

  @Test
  void clearingAnUnknownPod_changesNothing() {
    add(keys(1), A);
    done(index.clear("never heard of"));
    // Neither a prefix of a name nor a pattern is the name.
    done(index.clear("10.0.0.1"));
    done(index.clear("*"));

    assertThat(holders(1)).containsExactly(A);
  }

  @Test
  void manyBlocks_areAnsweredInTheirOrder() {
    long[] keys = new long[2_000];
    Arrays.setAll(keys, i -> 0x9E3779B97F4A7C15L * (i + 1));
    add(keys, A);
    add(Arrays.copyOf(keys, 1_000), B);

    BlockHits hits = lookup(keys);
    for (int i = 0; i < keys.length; i++) {
      assertThat(hits.at(i)).hasSize(i < 1_000 ? 2 : 1);
    }
  }

  @Test
  void aClosedIndex_findsNothing_andMayBeClosedAgain() {
    add(keys(1), A);
    index.close();
    index.close();

    assertThat(lookup(1).at(0)).isEmpty();
  }

  /** Keys, for a readable call. */
  protected static long[] keys(long... keys) {
    return keys;
  }

  /** Adds blocks without engine hashes, and waits. */
  protected final void add(long[] requestKeys, PodEntry... holders) {
    add(NO_ENGINE, requestKeys, holders);
  }

  /** Adds blocks, and waits. */
  protected final void add(long[] engineKeys, long[] requestKeys, PodEntry... holders) {
    done(index.add(engineKeys, requestKeys, List.of(holders), Context.root()));
  }

  /** Evicts, and waits. */
  protected final void evict(long key, KeyType type, PodEntry... holders) {
    done(index.evict(key, type, List.of(holders), Context.root()));
  }

  /** Looks up who holds these blocks, of all pods. */
  protected final BlockHits lookup(long... keys) {
    return lookupOf(Set.of(), keys);
  }

  /** Looks up which of these pods hold these blocks. */
  protected final BlockHits lookupOf(Set<String> pods, long[] keys) {
    return done(index.lookup(keys, pods, new BlockHits(), Context.root()));
  }

  /** Returns the holders of one block. */
  protected final PodEntry[] holders(long key) {
    return lookup(key).at(0);
  }

  /** The last block that an engine's hash stands for. */
  protected final OptionalLong requestKey(long engineKey) {
    return done(index.requestKey(engineKey));
  }

  /** Waits for a stage, but not for ever. */
  protected static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(BOUND_SECONDS, TimeUnit.SECONDS).join();
  }
}
