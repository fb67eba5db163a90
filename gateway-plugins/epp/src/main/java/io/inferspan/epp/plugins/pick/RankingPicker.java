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

/** Picks the endpoints with the highest values, and breaks ties at random. */
abstract sealed class RankingPicker implements Picker permits MaxScorePicker, WeightedRandomPicker {

  static final Supplier<RandomGenerator> DEFAULT_RANDOM = ThreadLocalRandom::current;

  private static final Comparator<Ranked> BEST_FIRST =
      Comparator.comparingDouble(Ranked::value).thenComparingDouble(Ranked::drawn).reversed();

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

  private record Ranked(Endpoint endpoint, double value, double drawn) {}

  @Override
  public final String type() {
    return type;
  }

  @Override
  public final List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    RandomGenerator generator = random.get();
    Ranked[] ranked = new Ranked[endpoints.size()];
    for (int i = 0; i < ranked.length; i++) {
      double drawn = generator.nextDouble();
      ranked[i] = new Ranked(endpoints.get(i), value(scores.at(i), drawn), drawn);
    }
    Arrays.sort(ranked, BEST_FIRST);
    return Arrays.stream(ranked).limit(this.endpoints).map(Ranked::endpoint).toList();
  }

  /**
   * Returns the value by which endpoints are ordered, highest first, from the score and a random
   * number between 0 and 1.
   */
  abstract double value(double score, double drawn);
}
