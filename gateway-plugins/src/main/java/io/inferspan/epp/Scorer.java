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
   * @param into where the scores may go: empty, of the right size, and used by nobody else
   * @param context the trace for calls to others
   */
  CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context);

  /** Whether it asks a KV-cache index, which gives it a span of its own besides every scorer's. */
  default boolean asksIndex() {
    return false;
  }

  /** Whether it scores nobody where the prompt was not tokenised. */
  default boolean needsTokens() {
    return false;
  }
}
