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
 * Distributes requests without a cache hit, so that caches fill evenly: prefers the endpoint that
 * least recently received such a request. For all other requests, each endpoint gets 0.5.
 *
 * <p>It uses the {@link PrefixMatches} of a prefix scorer before it; without one, no request counts
 * as a hit. Add it to the scheduler twice: as a scorer, and as a {@link PreRequest}.
 */
public final class NoHitLruScorer implements Scorer, PreRequest {

  /** The default number of endpoints that are stored. */
  public static final int DEFAULT_ENDPOINTS = 1024;

  private static final double NEUTRAL = 0.5;

  /** Endpoints ordered by their last request without a hit, the oldest first. */
  private final Map<String, Boolean> used;

  /** Creates a scorer that stores {@value #DEFAULT_ENDPOINTS} endpoints. */
  public NoHitLruScorer() {
    this(DEFAULT_ENDPOINTS);
  }

  /** Creates a scorer that stores this many endpoints. */
  public NoHitLruScorer(int endpoints) {
    if (endpoints < 1) {
      throw new IllegalArgumentException(
          "the no-hit-lru scorer stores " + endpoints + " endpoints, but must store 1 or more");
    }
    this.used = new LruMap<>(endpoints);
  }

  /** A note that the request has no cache hit. */
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

  /**
   * Returns the rank of each endpoint: unused ones first, in their order, then the least recently
   * used.
   */
  private Map<String, Integer> order(List<Endpoint> endpoints) {
    List<String> ordered = new ArrayList<>(endpoints.size());
    Map<String, Integer> ranks = new HashMap<>();
    endpoints.forEach(endpoint -> ranks.put(endpoint.id(), 0));
    synchronized (used) {
      for (Endpoint endpoint : endpoints) {
        if (!used.containsKey(endpoint.id())) {
          ordered.add(endpoint.id());
        }
      }
      used.keySet().stream().filter(ranks::containsKey).forEach(ordered::add);
    }
    for (int i = 0; i < ordered.size(); i++) {
      ranks.put(ordered.get(i), i);
    }
    return ranks;
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
