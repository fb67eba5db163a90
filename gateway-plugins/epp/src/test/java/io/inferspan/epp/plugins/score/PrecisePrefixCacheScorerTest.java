package io.inferspan.epp.plugins.score;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PrefixMatches;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class PrecisePrefixCacheScorerTest {

  private static Cycle tokenised() {
    return Fleet.cycle(InferenceRequest.to("m").tokens(Fleet.tokens(0, 64)).build());
  }

  private static double[] scores(Cycle cycle, Map<String, Double> found) {
    return Fleet.scores(
        new PrecisePrefixCacheScorer(
            (tokens, model, pods, context) -> CompletableFuture.completedFuture(found)),
        cycle,
        Fleet.pods(3));
  }

  @Test
  void scores_rangeBetweenTheLeastAndTheMostFound() {
    assertThat(
            scores(
                tokenised(),
                Map.of("10.0.0.1:8000", 1.0, "10.0.0.2:8000", 4.0, "10.0.0.3:8000", 2.5)))
        .containsExactly(0, 1, 0.5);
  }

  @Test
  void equals_getAll_andThoseNotFoundNothing() {
    assertThat(scores(tokenised(), Map.of("10.0.0.1:8000", 2.0, "10.0.0.3:8000", 2.0)))
        .containsExactly(1, 0, 1);
    assertThat(scores(tokenised(), Map.of())).containsExactly(0, 0, 0);
  }

  @Test
  void aPromptWithoutTokens_isNotLookedUp() {
    assertThat(scores(Fleet.cycle(), Map.of("10.0.0.1:8000", 1.0))).containsOnly(Double.NaN);
  }

  @Test
  void matches_areLeftForThoseAfterIt() {
    Cycle cycle = tokenised();
    scores(cycle, Map.of("10.0.0.2:8000", 2.8));

    PrefixMatches matches = Objects.requireNonNull(cycle.note(PrefixMatches.class));
    assertThat(matches.blocksAt(Fleet.pod(1))).isEqualTo(2);
    assertThat(matches.knows(Fleet.pod(0))).isTrue();
    assertThat(matches.ratioAt(Fleet.pod(1))).isEqualTo(0.5);
  }

  @Test
  void theIndex_isAskedForTheCandidatesOnly() {
    List<Object> asked = new ArrayList<>();
    PrefixHits hits =
        (tokens, model, pods, context) -> {
          asked.add(tokens.length);
          asked.add(model);
          asked.addAll(pods);
          return CompletableFuture.completedFuture(Map.of());
        };
    Fleet.scores(new PrecisePrefixCacheScorer(hits), tokenised(), Fleet.pods(2));
    assertThat(asked).containsExactly(64, "m", "10.0.0.1:8000", "10.0.0.2:8000");
  }
}
