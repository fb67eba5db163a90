package io.inferspan.epp.plugins.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PrefixMatches;
import io.inferspan.epp.SchedulingResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ApproximatePrefixCacheScorerTest {

  private final ApproximatePrefixCacheScorer scorer = new ApproximatePrefixCacheScorer();

  private static Cycle tokens(int count) {
    return Fleet.cycle(InferenceRequest.to("m").tokens(Fleet.tokens(7, count)).build());
  }

  private static Cycle text(String model, String text) {
    return Fleet.cycle(
        InferenceRequest.to(model).input(text.getBytes(StandardCharsets.UTF_8)).build());
  }

  private static void send(ApproximatePrefixCacheScorer scorer, Cycle cycle, int pod) {
    scorer.prepare(SchedulingResult.to(cycle, List.of(Fleet.pod(pod))), Fleet.noHeaders());
  }

  @Test
  void anEndpoint_scoresTheShareOfBlocksItWasSent() {
    send(scorer, tokens(128), 0);

    assertThat(Fleet.scores(scorer, tokens(256), Fleet.pods(2))).containsExactly(0.5, 0);
    assertThat(Fleet.scores(scorer, tokens(128), Fleet.pods(2))).containsExactly(1, 0);
  }

  @Test
  void aPromptShorterThanABlock_scoresNothing() {
    send(scorer, tokens(63), 0);
    assertThat(Fleet.scores(scorer, tokens(63), Fleet.pods(1))).containsExactly(0);
  }

  @Test
  void blocks_areAtLeast64Tokens() {
    send(scorer, tokens(64), 0);
    Cycle cycle = tokens(64);
    Fleet.scores(scorer, cycle, Fleet.pods(1));
    assertThat(cycle.note(PrefixMatches.class))
        .isEqualTo(new PrefixMatches(64, 64, Map.of("ns/a", 1)));
  }

  @Test
  void reportedCacheSizes_setBlockSizeAndMemory() {
    Endpoint small = Fleet.pod(0).withCache(new Endpoint.Cache(128, 2));
    scorer.prepare(SchedulingResult.to(tokens(256), List.of(small)), Fleet.noHeaders());
    Cycle cycle = tokens(384);
    assertThat(Fleet.scores(scorer, cycle, List.of(small))).containsExactly(2 / 3.0);
    assertThat(cycle.note(PrefixMatches.class))
        .isEqualTo(new PrefixMatches(128, 384, Map.of("ns/a", 2)));

    scorer.prepare(
        SchedulingResult.to(text("other", "x".repeat(512)), List.of(small)), Fleet.noHeaders());
    assertThat(Fleet.scores(scorer, tokens(256), List.of(small)))
        .as("the block seen first had to leave")
        .containsExactly(0);
  }

  @Test
  void memoryOfACacheOfSmallBlocks_isCountedInOurs() {
    var settings = ApproximatePrefixCacheScorer.Settings.DEFAULT;
    assertThat(settings.blocks(new Endpoint.Cache(16, 1000), 64)).isEqualTo(250);
    assertThat(settings.blocks(new Endpoint.Cache(16, 1), 64)).isEqualTo(1);
    assertThat(settings.blocks(new Endpoint.Cache(1 << 20, 1 << 30), 64)).isEqualTo(1 << 20);
    assertThat(settings.blocks(Endpoint.Cache.UNKNOWN, 64)).isEqualTo(31_250);
  }

  @Test
  void withoutAutoTune_reportedCacheSizesAreIgnored() {
    var fixed = new ApproximatePrefixCacheScorer.Settings(64, 0, 131_072, 7, 0, false);
    List<Endpoint> pods = List.of(Fleet.pod(0).withCache(new Endpoint.Cache(128, 2)));
    assertThat(fixed.blockTokens(pods)).isEqualTo(64);
    assertThat(fixed.blocks(pods.get(0).cache(), 64)).isEqualTo(7);
  }

  @Test
  void textIsReckonedAtFourBytesAToken_andEachModelApart() {
    String text = "x".repeat(512);
    send(scorer, text("m", text), 1);

    assertThat(Fleet.scores(scorer, text("m", text + "y".repeat(512)), Fleet.pods(2)))
        .containsExactly(0, 0.5);
    assertThat(Fleet.scores(scorer, text("lora", text), Fleet.pods(2))).containsExactly(0, 0);
  }

  @Test
  void aRequestOfUnknownInput_scoresNothing() {
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(1))).containsExactly(0);
  }

  @Test
  void blocksNotSeenForLongest_areForgotten() {
    var small =
        new ApproximatePrefixCacheScorer(
            new ApproximatePrefixCacheScorer.Settings(64, 100, 0, 2, 0, true));
    send(small, text("m", "a".repeat(512)), 0);
    send(small, text("m", "b".repeat(256)), 0);

    assertThat(Fleet.scores(small, text("m", "b".repeat(256)), Fleet.pods(1))).containsExactly(1);
    assertThat(Fleet.scores(small, text("m", "a".repeat(512)), Fleet.pods(1))).containsExactly(0);
  }

  @Test
  void theLengthOfAMatch_countsByItsSquareUpTo8192Tokens() {
    var half =
        new ApproximatePrefixCacheScorer(
            new ApproximatePrefixCacheScorer.Settings(64, 0, 131_072, 31_250, 0.5, true));
    send(half, tokens(4096), 0);

    assertThat(Fleet.scores(half, tokens(8192), Fleet.pods(1)))
        .containsExactly(0.5 * 0.5 + 0.5 * 0.25);
  }

  @Test
  void blocksBeyondTheLimit_areNotCompared() {
    var four =
        new ApproximatePrefixCacheScorer(
            new ApproximatePrefixCacheScorer.Settings(64, 4, 0, 31_250, 0, true));
    send(four, tokens(256), 0);
    assertThat(Fleet.scores(four, tokens(1024), Fleet.pods(1))).containsExactly(1);
  }

  @Test
  void thePrefillPod_isRememberedToo() {
    Cycle cycle = tokens(64);
    scorer.prepare(
        SchedulingResult.to(cycle, List.of(Fleet.pod(0))).withStages(List.of(Fleet.pod(1)), null),
        Fleet.noHeaders());
    assertThat(Fleet.scores(scorer, tokens(64), Fleet.pods(3))).containsExactly(1, 1, 0);
  }

  @Test
  void randomPrompts_matchAsFarAsTheyAreEqual() {
    long seed = 20260101;
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      int[] first = random.ints(64 * 6, 0, 3).toArray();
      int[] second = first.clone();
      int changed = random.nextInt(first.length);
      second[changed]++;
      String model = "m" + round;
      send(scorer, Fleet.cycle(InferenceRequest.to(model).tokens(first).build()), 0);

      Cycle cycle = Fleet.cycle(InferenceRequest.to(model).tokens(second).build());
      Fleet.scores(scorer, cycle, Fleet.pods(1));
      PrefixMatches matches = Objects.requireNonNull(cycle.note(PrefixMatches.class));
      assertThat(matches.blocksAt(Fleet.pod(0))).as("seed %d", seed).isEqualTo(changed / 64);
    }
  }

  @Test
  void settingsThatMakeNoSense_areRefused() {
    assertThatThrownBy(() -> new ApproximatePrefixCacheScorer.Settings(0, 1, 1, 1, 0, true))
        .hasMessageContaining("must be above 0");
    assertThatThrownBy(() -> new ApproximatePrefixCacheScorer.Settings(1, 1, 1, 1, 2, true))
        .hasMessageContaining("is 2.0, but must be 0 to 1");
  }
}
