package io.inferspan.kvcache.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import io.inferspan.kvcache.Allocations;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LongestPrefixScorerTest {

  private static final long SEED = 20261121;
  private static final PodEntry[] NO_PODS = {};

  private final LongestPrefixScorer scorer = LongestPrefixScorer.withDefaults();

  @Test
  void case44_tiersAreWeighted() {
    BlockHits hits = hits(on("a gpu"), on("a gpu"), on("a cpu"));

    assertThat(scorer.score(hits, 3).of("a")).isEqualTo(2.8);
  }

  @Test
  void case44_aGapStopsTheChain() {
    BlockHits hits =
        hits(on("a gpu", "b gpu"), on("b gpu"), on("a gpu", "b gpu"), NO_PODS, on("b gpu"));

    assertThat(scorer.score(hits, 5).asMap()).containsOnly(entry("a", 1.0), entry("b", 3.0));
  }

  @Test
  void case44_noKeys_giveNoScores() {
    PodScores none = scorer.score(hits(), 0);

    assertThat(none.size()).isZero();
    assertThat(none.asMap()).isEmpty();
    assertThat(none.max()).isZero();
    assertThat(none.average()).isZero();
    assertThat(none.of("a")).isZero();
  }

  @Test
  void aPodWithoutTheFirstBlock_hasNoScore() {
    BlockHits hits = hits(on("a gpu"), on("a gpu", "b gpu"));

    assertThat(scorer.score(hits, 2).asMap()).containsOnly(entry("a", 2.0));
    assertThat(scorer.score(hits(NO_PODS, on("a gpu")), 2).asMap()).isEmpty();
  }

  @Test
  void theBestTierOfABlock_counts_andThePodOnce() {
    BlockHits hits = hits(on("a cpu", "a gpu", "b cpu"), on("a gpu", "a cpu", "b cpu"));

    assertThat(scorer.score(hits, 2).asMap()).containsOnly(entry("a", 2.0), entry("b", 1.6));
  }

  @Test
  void anUnknownTier_weighsOne() {
    assertThat(scorer.score(hits(on("a disk")), 1).of("a")).isEqualTo(1.0);
  }

  @Test
  void ownWeights_replaceTheDefaults() {
    LongestPrefixScorer own = LongestPrefixScorer.withTierWeights(Map.of("disk", 0.25, "gpu", 0.0));
    BlockHits hits = hits(on("a disk", "b cpu", "c gpu"));

    assertThat(own.score(hits, 1).asMap())
        .containsOnly(entry("a", 0.25), entry("b", 1.0), entry("c", 0.0));
  }

  @Test
  void anInvalidWeight_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LongestPrefixScorer.withTierWeights(Map.of("gpu", -0.5)))
        .withMessage("The weight of tier 'gpu' is -0.5; it must be finite and at least 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LongestPrefixScorer.withTierWeights(Map.of("gpu", Double.NaN)));
  }

  @Test
  void onlyTheKeysAskedFor_count() {
    BlockHits hits = hits(on("a gpu"), on("a gpu"), on("a gpu"));

    assertThat(scorer.score(hits, 2).of("a")).isEqualTo(2.0);
  }

  @Test
  void aFailedLookup_hasNoScores() {
    BlockHits hits = hits(on("a gpu"));
    hits.fail("gone");

    assertThat(scorer.score(hits, 1).size()).isZero();
  }

  @Test
  void scores_canBeReadOneByOne() {
    PodScores scores = scorer.score(hits(on("a gpu", "a cpu", "b gpu"), on("b gpu")), 2);

    assertThat(scores.size()).isEqualTo(2);
    assertThat(scores.max()).isEqualTo(2.0);
    assertThat(scores.average()).isEqualTo(1.5);
    for (int i = 0; i < scores.size(); i++) {
      assertThat(scores.score(i)).isEqualTo(scores.of(scores.pod(i)));
    }
    assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> scores.pod(2));
    assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> scores.score(-1));
  }

  @Test
  void randomHits_scoreAsAPlainImplementationScoresThem() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20_000; round++) {
      PodEntry[][] found = randomHolders(random);

      assertThat(scorer.score(hits(found), found.length).asMap())
          .as("seed %d, round %d", SEED, round)
          .isEqualTo(plainScores(found));
    }
  }

  private static PodEntry[][] randomHolders(SplittableRandom random) {
    PodEntry[][] found = new PodEntry[random.nextInt(30)][];
    PodEntry[] last = NO_PODS;
    for (int i = 0; i < found.length; i++) {
      // Runs of the same holders, in the same array or another, and changes between them.
      last =
          switch (i == 0 ? 2 : random.nextInt(6)) {
            case 0 -> last.clone();
            case 1 ->
                IntStream.range(0, last.length).mapToObj(reversed(last)).toArray(PodEntry[]::new);
            case 2 -> randomHolders(random, 8);
            default -> last;
          };
      found[i] = last;
    }
    return found;
  }

  private static IntFunction<PodEntry> reversed(PodEntry[] all) {
    return i -> all[all.length - 1 - i];
  }

  private static PodEntry[] randomHolders(SplittableRandom random, int most) {
    String[] tiers = {"gpu", "cpu", "disk"};
    return random
        .ints(random.nextInt(most + 1), 0, 15)
        .distinct()
        .mapToObj(i -> PodEntry.of("pod-" + i % 5, tiers[i / 5]))
        .toArray(PodEntry[]::new);
  }

  private static Map<String, Double> plainScores(PodEntry[][] found) {
    Map<String, Double> scores = new HashMap<>();
    Map<String, Double> chain = null;
    for (PodEntry[] holders : found) {
      Map<String, Double> weights = new HashMap<>();
      for (PodEntry holder : holders) {
        weights.merge(holder.pod(), holder.tier().equals("cpu") ? 0.8 : 1.0, Math::max);
      }
      if (chain != null) {
        weights.keySet().retainAll(chain.keySet());
      }
      weights.forEach((pod, weight) -> scores.merge(pod, weight, Double::sum));
      chain = weights;
    }
    return scores;
  }

  @Test
  void scoring_allocatesItsResultOnly() {
    PodEntry[] sixteen =
        IntStream.range(0, 16)
            .mapToObj(i -> PodEntry.of("10.0.0." + i + ":8000", i % 2 == 0 ? "gpu" : "cpu"))
            .toArray(PodEntry[]::new);
    PodEntry[][] found = new PodEntry[1_000][];
    for (int i = 0; i < found.length; i++) {
      found[i] = sixteen.clone();
    }
    BlockHits hits = hits(found);

    // PodScores 24, String[16] 80, double[16] 144.
    assertThat(bytesPerScore(hits)).isBetween(248L, 270L);
  }

  private long bytesPerScore(BlockHits hits) {
    double[] kept = new double[1];
    long bytes = Allocations.of(300, () -> kept[0] += scorer.score(hits, hits.size()).max());
    assertThat(kept[0]).isEqualTo(600 * 1_000.0);
    return bytes / 300;
  }

  private static PodEntry[] on(String... podsAndTiers) {
    PodEntry[] holders = new PodEntry[podsAndTiers.length];
    for (int i = 0; i < holders.length; i++) {
      String[] parts = podsAndTiers[i].split(" ", 2);
      holders[i] = PodEntry.of(parts[0], parts[1]);
    }
    return holders;
  }

  private static BlockHits hits(PodEntry[]... found) {
    BlockHits hits = new BlockHits();
    hits.reset(found.length);
    for (int i = 0; i < found.length; i++) {
      hits.set(i, found[i]);
    }
    return hits;
  }
}
