package io.inferspan.epp.plugins.pick;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Picks endpoints by chance, each as likely as its score is high.
 *
 * <p>An endpoint without score is not picked while there is one with; where none has, all are
 * equally likely. Each endpoint draws {@code u^(1/score)} and the greatest draw wins (Efraimidis
 * and Spirakis), which is right also when several are picked.
 */
public final class WeightedRandomPicker extends RankingPicker {

  /** Picks one endpoint. */
  public WeightedRandomPicker() {
    this(1);
  }

  /** Picks so many endpoints. */
  public WeightedRandomPicker(int endpoints) {
    this(endpoints, CHANCE);
  }

  /** Picks this many endpoints; {@code random} is called on each pick. */
  public WeightedRandomPicker(int endpoints, Supplier<? extends RandomGenerator> random) {
    super("weighted-random-picker", endpoints, random);
  }

  @Override
  double value(double score, double drawn) {
    // The logarithm keeps the order and does not run out of digits where scores are small.
    return score > 0 ? Math.log(drawn) / score : Double.NEGATIVE_INFINITY;
  }
}
