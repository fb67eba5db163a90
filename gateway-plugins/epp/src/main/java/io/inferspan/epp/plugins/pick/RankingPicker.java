package io.inferspan.epp.plugins.pick;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Picks the endpoints with the highest values, and randomly among equals. */
abstract sealed class RankingPicker implements Picker permits MaxScorePicker, WeightedRandomPicker {

  static final Supplier<RandomGenerator> CHANCE = ThreadLocalRandom::current;

  private static final Comparator<Place> BEST_FIRST =
      Comparator.comparingDouble(Place::value).thenComparingDouble(Place::chance).reversed();

  private final String type;
  private final int endpoints;
  private final Supplier<? extends RandomGenerator> random;

  RankingPicker(String type, int endpoints, Supplier<? extends RandomGenerator> random) {
    if (endpoints < 1) {
      throw new IllegalArgumentException(
          "the number of endpoints of the "
              + type
              + " is "
              + endpoints
              + ", but must be 1 or more");
    }
    this.type = type;
    this.endpoints = endpoints;
    this.random = random;
  }

  private record Place(Endpoint endpoint, double value, double chance) {}

  @Override
  public final String type() {
    return type;
  }

  @Override
  public final List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    RandomGenerator chance = random.get();
    Place[] places = new Place[endpoints.size()];
    for (int i = 0; i < places.length; i++) {
      double drawn = chance.nextDouble();
      places[i] = new Place(endpoints.get(i), value(scores.at(i), drawn), drawn);
    }
    Arrays.sort(places, BEST_FIRST);
    return Arrays.stream(places).limit(this.endpoints).map(Place::endpoint).toList();
  }

  /**
   * Returns the value by which endpoints are ordered, highest first, from the score and a random
   * number between 0 and 1.
   */
  abstract double value(double score, double drawn);
}
