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

/** Picks the endpoints with the best scores; chance decides between equals. */
public final class MaxScorePicker implements Picker {

  private final int endpoints;
  private final Supplier<? extends RandomGenerator> random;

  /** Picks one endpoint. */
  public MaxScorePicker() {
    this(1);
  }

  /** Picks so many endpoints. */
  public MaxScorePicker(int endpoints) {
    this(endpoints, ThreadLocalRandom::current);
  }

  /** Picks so many endpoints; {@code random} is asked for chance on each pick. */
  public MaxScorePicker(int endpoints, Supplier<? extends RandomGenerator> random) {
    this.endpoints = Ranking.checked(endpoints, type());
    this.random = random;
  }

  @Override
  public String type() {
    return "max-score-picker";
  }

  @Override
  public List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    RandomGenerator chance = random.get();
    Ranking ranking = new Ranking(endpoints);
    for (int i = 0; i < endpoints.size(); i++) {
      ranking.give(i, scores.at(i), chance.nextDouble());
    }
    return ranking.first(this.endpoints);
  }
}
