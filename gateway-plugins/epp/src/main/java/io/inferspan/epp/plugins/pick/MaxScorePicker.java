package io.inferspan.epp.plugins.pick;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Picks the endpoints with the best scores, and breaks ties at random. */
public final class MaxScorePicker extends RankingPicker {

  /** Creates a picker of one endpoint. */
  public MaxScorePicker() {
    this(1);
  }

  /** Creates a picker of this many endpoints. */
  public MaxScorePicker(int endpoints) {
    this(endpoints, DEFAULT_RANDOM);
  }

  /** Creates a picker of this many endpoints; {@code random} is called on each pick. */
  public MaxScorePicker(int endpoints, Supplier<? extends RandomGenerator> random) {
    super("max-score-picker", endpoints, random);
  }

  @Override
  double value(double score, double drawn) {
    return score;
  }
}
