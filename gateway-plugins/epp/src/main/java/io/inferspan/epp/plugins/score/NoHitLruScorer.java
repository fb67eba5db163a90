package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.PrefixMatches;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Spreads requests that no cache helps: of these, endpoints that have waited longest for one come
 * first, so that caches fill evenly. All others get a half from it.
 *
 * <p>It goes by the {@link PrefixMatches} of a prefix scorer before it; without one, every request
 * counts as cold. It belongs into the scheduler twice: as a scorer, and as a {@link PreRequest}.
 */
public final class NoHitLruScorer implements Scorer, PreRequest {

  /** The default number of endpoints that it remembers. */
  public static final int DEFAULT_ENDPOINTS = 1024;

  private static final double NEUTRAL = 0.5;

  /** Endpoints by when they last got a cold request, the longest ago first. */
  private final Map<String, Boolean> used;

  /** Remembers {@value #DEFAULT_ENDPOINTS} endpoints. */
  public NoHitLruScorer() {
    this(DEFAULT_ENDPOINTS);
  }

  /** Remembers so many endpoints. */
  public NoHitLruScorer(int endpoints) {
    if (endpoints < 1) {
      throw new IllegalArgumentException(
          "the no-hit-lru scorer is to remember " + endpoints + " endpoints; it takes 1 or more");
    }
    this.used = new Recency<>(endpoints);
  }

  /** That a scheduling found no cache to help. */
  private record Cold() {
    static final Cold NOTE = new Cold();
  }

  @Override
  public String type() {
    return "no-hit-lru-scorer";
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    PrefixMatches matches = cycle.note(PrefixMatches.class);
    if (matches != null && !matches.isCold()) {
      for (int i = 0; i < endpoints.size(); i++) {
        into.set(i, NEUTRAL);
      }
      return into.done();
    }
    cycle.leave(Cold.class, Cold.NOTE);
    rank(endpoints, into);
    return into.done();
  }

  private void rank(List<Endpoint> endpoints, Scores into) {
    Map<String, Integer> order = order(endpoints);
    double last = Math.max(1, endpoints.size() - 1);
    for (int i = 0; i < endpoints.size(); i++) {
      into.set(i, 1 - order.getOrDefault(endpoints.get(i).id(), 0) / last);
    }
  }

  /** The place of each endpoint: those never used first, as they came; then the longest unused. */
  private Map<String, Integer> order(List<Endpoint> endpoints) {
    List<String> ordered = new ArrayList<>(endpoints.size());
    Map<String, Integer> places = new HashMap<>();
    endpoints.forEach(endpoint -> places.put(endpoint.id(), 0));
    synchronized (used) {
      for (Endpoint endpoint : endpoints) {
        if (!used.containsKey(endpoint.id())) {
          ordered.add(endpoint.id());
        }
      }
      used.keySet().stream().filter(places::containsKey).forEach(ordered::add);
    }
    for (int i = 0; i < ordered.size(); i++) {
      places.put(ordered.get(i), i);
    }
    return places;
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    if (result.cycle().note(Cold.class) != null) {
      use(result.target());
      use(result.prefillTarget());
    }
  }

  private void use(@Nullable Endpoint endpoint) {
    if (endpoint != null) {
      synchronized (used) {
        used.put(endpoint.id(), Boolean.TRUE);
      }
    }
  }
}
