package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Says how well each endpoint suits the request, from 0 to 1.
 *
 * <p>It must not block. The answer is a stage because one scorer, the precise prefix scorer, asks
 * an index that may be on another machine; all others answer with {@link Scores#done()}, which
 * allocates nothing and lets the caller go on in the same call.
 */
public interface Scorer extends Plugin {

  /**
   * Scores the endpoints.
   *
   * @param into where the scores may go: empty, of the right size, and used only here
   * @param context the trace for calls to others
   */
  CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context);

  /** Returns whether it queries a KV-cache index, which adds a span for the query. */
  default boolean asksIndex() {
    return false;
  }

  /** Returns whether it needs a tokenised prompt to score any endpoint. */
  default boolean needsTokens() {
    return false;
  }
}
