package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Rates how well each endpoint suits the request, from 0 to 1.
 *
 * <p>It must not block. A scorer that queries a remote index returns a {@code CompletionStage} that
 * completes later. All others return {@link Scores#done()}, which allocates nothing and lets the
 * caller continue synchronously.
 */
public interface Scorer extends Plugin {

  /**
   * Scores the endpoints.
   *
   * @param into an empty buffer of the right size, for this call's scores
   * @param context the trace context for remote calls
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
