package io.inferspan.epp.plugins.pick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PickersTest {

  private static final int ROUNDS = 20_000;

  private static List<Endpoint> pick(Picker picker, double... scores) {
    Scores given = Scores.of(scores.length);
    for (int i = 0; i < scores.length; i++) {
      given.set(i, scores[i]);
    }
    return picker.pick(Fleet.cycle(), Fleet.pods(scores.length), given, Context.root());
  }

  private static Map<String, Double> shares(Picker picker, double... scores) {
    Map<String, Double> shares = new HashMap<>();
    for (int i = 0; i < ROUNDS; i++) {
      shares.merge(pick(picker, scores).get(0).id(), 1.0 / ROUNDS, Double::sum);
    }
    return shares;
  }

  @Test
  void maxScore_picksTheBestInOrder() {
    assertThat(pick(new MaxScorePicker(), 0.1, 0.9, 0.5))
        .extracting(Endpoint::id)
        .containsExactly("ns/b");
    assertThat(pick(new MaxScorePicker(2), 0.1, 0.9, 0.5))
        .extracting(Endpoint::id)
        .containsExactly("ns/b", "ns/c");
    assertThat(pick(new MaxScorePicker(9), 0.1)).hasSize(1);
  }

  @Test
  void maxScore_leavesEqualsToChance() {
    Random random = new Random(1);
    Map<String, Double> shares = shares(new MaxScorePicker(1, () -> random), 0.5, 0.5, 0.4);
    assertThat(shares.get("ns/a")).isCloseTo(0.5, within(0.02));
    assertThat(shares).doesNotContainKey("ns/c");
  }

  @Test
  void weightedRandom_picksInProportion() {
    Random random = new Random(2);
    Map<String, Double> shares = shares(new WeightedRandomPicker(1, () -> random), 3, 1, 0);
    assertThat(shares.get("ns/a")).isCloseTo(0.75, within(0.02));
    assertThat(shares.get("ns/b")).isCloseTo(0.25, within(0.02));
    assertThat(shares).doesNotContainKey("ns/c");
  }

  @Test
  void weightedRandom_withoutScores_picksAllEquallyOften() {
    Random random = new Random(3);
    Map<String, Double> shares = shares(new WeightedRandomPicker(1, () -> random), 0, 0);
    assertThat(shares.get("ns/a")).isCloseTo(0.5, within(0.02));
  }

  @Test
  void weightedRandom_ranksTinyScoresAsWell() {
    Random random = new Random(4);
    Map<String, Double> shares = shares(new WeightedRandomPicker(1, () -> random), 3e-9, 1e-9);
    assertThat(shares.get("ns/a")).isCloseTo(0.75, within(0.02));
  }

  @Test
  void thatManyEndpoints_isAtLeastOne() {
    assertThatThrownBy(() -> new MaxScorePicker(0))
        .hasMessage("the number of endpoints of the max-score-picker is 0, but must be 1 or more");
    assertThatThrownBy(() -> new WeightedRandomPicker(-1)).hasMessageContaining("weighted-random");
  }
}
