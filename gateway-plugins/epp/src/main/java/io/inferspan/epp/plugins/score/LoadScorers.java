package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.ToDoubleFunction;

/** Stateless scorers that rate endpoints by their load. */
public final class LoadScorers {

  private static final int LONG_QUEUE = 128;
  private static final double MANY_TOKENS = 4_194_304;
  private static final double HALF = 0.5;

  private LoadScorers() {}

  /** Prefers short queues: the shortest gets 1, the longest 0. */
  public static Scorer queue() {
    return new LoadScorer(
        "queue-scorer", Endpoint.Metrics::waitingRequests, LoadScorer.Rule::byRange);
  }

  /** Prefers engines that compute few requests: the fewest get 1, the most 0. */
  public static Scorer runningRequests() {
    return new LoadScorer(
        "running-requests-size-scorer",
        Endpoint.Metrics::runningRequests,
        LoadScorer.Rule::byRange);
  }

  /** Prefers empty KV caches. */
  public static Scorer kvCacheUtilization() {
    return new LoadScorer(
        "kv-cache-utilization-scorer",
        Endpoint.Metrics::kvCacheUsage,
        (usage, least, most) -> 1 - usage);
  }

  /** Prefers short queues: an empty queue gets 0.5, a queue of 128 requests or more gets 0. */
  public static Scorer loadAware() {
    return loadAware(LONG_QUEUE);
  }

  /**
   * Prefers short queues: an empty queue gets 0.5, one of {@code longQueue} requests or more gets
   * 0.
   */
  public static Scorer loadAware(int longQueue) {
    if (longQueue < 1) {
      throw new IllegalArgumentException(
          "the threshold of the load-aware scorer is " + longQueue + ", but must be above 0");
    }
    return new LoadScorer(
        "load-aware-scorer",
        Endpoint.Metrics::waitingRequests,
        (waiting, least, most) -> HALF * (1 - Math.min(waiting, longQueue) / longQueue));
  }

  /** Prefers endpoints with few active tokens of this gateway's requests; 4 Mi or more get 0. */
  public static Scorer tokenLoad() {
    return new LoadScorer(
        "token-load-scorer",
        Endpoint.Metrics::activeTokens,
        (tokens, least, most) -> 1 - Math.min(tokens, MANY_TOKENS) / MANY_TOKENS);
  }

  /** Prefers endpoints with few of this gateway's requests: idle ones get 1, the busiest 0. */
  public static Scorer activeRequests() {
    return activeRequests(0, 1);
  }

  /**
   * Prefers endpoints with few of this gateway's requests.
   *
   * @param idleRequests the number of requests up to which an endpoint is idle and scores 1
   * @param maxBusyScore the maximum score of an endpoint that is not idle, 0 to 1
   */
  public static Scorer activeRequests(int idleRequests, double maxBusyScore) {
    if (idleRequests < 0 || !(maxBusyScore >= 0 && maxBusyScore <= 1)) {
      throw new IllegalArgumentException(
          "idleRequests and maxBusyScore of the active-request scorer are "
              + idleRequests
              + " and "
              + maxBusyScore
              + "; idleRequests must be 0 or more, and maxBusyScore from 0 to 1");
    }
    return new LoadScorer(
        "active-request-scorer",
        Endpoint.Metrics::activeRequests,
        (active, least, most) ->
            active <= idleRequests ? 1 : (most - active) / most * maxBusyScore);
  }

  /**
   * Scores each endpoint by one measure of its load. Some rules compare it with the minimum and the
   * maximum of all endpoints.
   */
  private record LoadScorer(String type, ToDoubleFunction<Endpoint.Metrics> measure, Rule rule)
      implements Scorer {
    /** Converts a load to a score, given the lowest and the highest load. */
    @FunctionalInterface
    interface Rule {
      double score(double load, double least, double most);

      /**
       * Interpolates between 1 for the lowest load and 0 for the highest; returns 1 if all are
       * equal.
       */
      static double byRange(double load, double least, double most) {
        return most == least ? 1 : (most - load) / (most - least);
      }
    }

    @Override
    public CompletionStage<Scores> score(
        Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
      double least = Double.POSITIVE_INFINITY;
      double most = Double.NEGATIVE_INFINITY;
      for (int i = 0; i < endpoints.size(); i++) {
        double load = measure.applyAsDouble(endpoints.get(i).metrics());
        into.raw(load);
        least = Math.min(least, load);
        most = Math.max(most, load);
      }
      for (int i = 0; i < endpoints.size(); i++) {
        into.set(i, rule.score(measure.applyAsDouble(endpoints.get(i).metrics()), least, most));
      }
      return into.done();
    }
  }
}
