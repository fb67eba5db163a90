package io.inferspan.epp.plugins.pick;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Picks endpoints at random, with probabilities proportional to their scores.
 *
 * <p>Each endpoint draws {@code u^(1/score)}, and the highest draws win (Efraimidis and Spirakis),
 * which is also correct if several endpoints are picked. Endpoints without a positive score come
 * last, in random order.
 */
public final class WeightedRandomPicker extends RankingPicker {

  /** Creates a picker of one endpoint. */
  public WeightedRandomPicker() {
    this(1);
  }

  /** Creates a picker of this many endpoints. */
  public WeightedRandomPicker(int endpoints) {
    this(endpoints, DEFAULT_RANDOM);
  }

  /** Creates a picker of this many endpoints; {@code random} is called on each pick. */
  public WeightedRandomPicker(int endpoints, Supplier<? extends RandomGenerator> random) {
    super("weighted-random-picker", endpoints, random);
  }

  @Override
  double value(double score, double drawn) {
    // The logarithm keeps the order and does not underflow for small scores.
    return score > 0 ? Math.log(drawn) / score : Double.NEGATIVE_INFINITY;
  }
}
