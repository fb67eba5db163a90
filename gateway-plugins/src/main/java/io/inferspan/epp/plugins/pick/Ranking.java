package io.inferspan.epp.plugins.pick;

import io.inferspan.epp.Endpoint;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Endpoints in the order of a value, and of chance where that is equal. */
final class Ranking {

  private static final Comparator<Place> BEST_FIRST =
      Comparator.comparingDouble(Place::value).thenComparingDouble(Place::chance).reversed();

  private final List<Endpoint> endpoints;
  private final Place[] places;

  Ranking(List<Endpoint> endpoints) {
    this.endpoints = endpoints;
    this.places = new Place[endpoints.size()];
  }

  private record Place(int position, double value, double chance) {}

  /** Fails early where a picker is to pick less than one endpoint. */
  static int checked(int endpoints, String picker) {
    if (endpoints < 1) {
      throw new IllegalArgumentException(
          "the " + picker + " is to pick " + endpoints + " endpoints; it takes 1 or more");
    }
    return endpoints;
  }

  void give(int position, double value, double chance) {
    places[position] = new Place(position, value, chance);
  }

  List<Endpoint> first(int count) {
    return Arrays.stream(places)
        .sorted(BEST_FIRST)
        .limit(count)
        .map(place -> endpoints.get(place.position()))
        .toList();
  }
}
