package io.inferspan.epp.plugins.pick;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Picks endpoints by chance, each as likely as its score is high.
 *
 * <p>An endpoint without score is not picked while there is one with; where none has, all are
 * equally likely. Each endpoint draws {@code u^(1/score)} and the greatest draw wins (Efraimidis
 * and Spirakis), which is right also when several are picked.
 */
public final class WeightedRandomPicker implements Picker {

  private final int endpoints;
  private final Supplier<? extends RandomGenerator> random;

  /** Picks one endpoint. */
  public WeightedRandomPicker() {
    this(1);
  }

  /** Picks so many endpoints. */
  public WeightedRandomPicker(int endpoints) {
    this(endpoints, ThreadLocalRandom::current);
  }

  /** Picks so many endpoints; {@code random} is asked for chance on each pick. */
  public WeightedRandomPicker(int endpoints, Supplier<? extends RandomGenerator> random) {
    this.endpoints = Ranking.checked(endpoints, type());
    this.random = random;
  }

  @Override
  public String type() {
    return "weighted-random-picker";
  }

  @Override
  public List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    RandomGenerator chance = random.get();
    Ranking ranking = new Ranking(endpoints);
    for (int i = 0; i < endpoints.size(); i++) {
      double score = scores.at(i);
      double drawn = chance.nextDouble();
      // The logarithm keeps the order and does not run out of digits where scores are small.
      ranking.give(i, score > 0 ? Math.log(drawn) / score : Double.NEGATIVE_INFINITY, drawn);
    }
    return ranking.first(this.endpoints);
  }
}
