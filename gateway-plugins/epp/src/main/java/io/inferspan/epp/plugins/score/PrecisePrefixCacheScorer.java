package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PrefixMatches;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Prefers endpoints that hold most of the prompt, according to an index of the engines' KV caches.
 *
 * <p>The best endpoint in the index scores 1; the worst, and all endpoints without hits, score 0. A
 * prompt that was not tokenised is not looked up. If the tokenizer threw an exception, scoring
 * fails with that exception.
 */
public final class PrecisePrefixCacheScorer implements Scorer {

  /** vLLM's default number of tokens in a block. */
  public static final int DEFAULT_BLOCK_TOKENS = 16;

  private final PrefixHits hits;
  private final int blockTokens;

  /** Creates a scorer that queries {@code hits}, in blocks of 16 tokens. */
  public PrecisePrefixCacheScorer(PrefixHits hits) {
    this(hits, DEFAULT_BLOCK_TOKENS);
  }

  /** Creates a scorer that queries {@code hits}, in blocks of this many tokens. */
  public PrecisePrefixCacheScorer(PrefixHits hits, int blockTokens) {
    this.hits = hits;
    this.blockTokens = blockTokens;
  }

  @Override
  public String type() {
    return "precise-prefix-cache-scorer";
  }

  @Override
  public boolean asksIndex() {
    return true;
  }

  @Override
  public boolean needsTokens() {
    return true;
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    int[] tokens = cycle.request().tokens();
    if (tokens == null) {
      Throwable failure = cycle.request().tokenizerFailure();
      return failure == null ? into.done() : CompletableFuture.failedFuture(failure);
    }
    Set<String> pods = new LinkedHashSet<>();
    endpoints.forEach(endpoint -> pods.add(endpoint.authority()));
    return hits.scores(tokens, cycle.request().model(), pods, context)
        .thenApply(
            found -> {
              cycle.leave(PrefixMatches.class, matches(tokens.length, endpoints, found));
              return normalised(endpoints, found, into);
            });
  }

  /** Converts scores to blocks. A block in slow memory may count for less than one. */
  private PrefixMatches matches(int tokens, List<Endpoint> endpoints, Map<String, Double> found) {
    Map<String, Integer> blocks = new HashMap<>();
    for (Endpoint endpoint : endpoints) {
      blocks.put(endpoint.id(), (int) (double) found.getOrDefault(endpoint.authority(), 0.0));
    }
    return new PrefixMatches(blockTokens, tokens, blocks);
  }

  private static Scores normalised(
      List<Endpoint> endpoints, Map<String, Double> found, Scores into) {
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;
    for (double score : found.values()) {
      min = Math.min(min, score);
      max = Math.max(max, score);
    }
    for (int i = 0; i < endpoints.size(); i++) {
      Double score = found.get(endpoints.get(i).authority());
      into.raw(score == null ? 0 : score);
      if (score == null) {
        into.set(i, 0);
      } else {
        into.set(i, max == min ? 1 : (score - min) / (max - min));
      }
    }
    return into;
  }
}
