package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Decorates a scorer with its span, a second span if it queries an index, and the deadline of the
 * cycle.
 */
record TracedScorer(EppTracing tracing, Scorer plugin, double weight) implements Scorer, Decorator {
  private static final String WRONG_SIZE = "wrong_size";

  @Override
  public boolean asksIndex() {
    return plugin.asksIndex();
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    int candidates = endpoints.size();
    OperationSpan span = tracing.scorer(plugin, weight, cycle.request(), candidates, context);
    if (!plugin.asksIndex()) {
      return score(cycle, endpoints, into, span);
    }
    OperationSpan lookup =
        tracing.prefixScorer(cycle.request(), candidates, tracing.parentOfLookup(cycle, span));
    CompletableFuture<Scores> scores = score(cycle, endpoints, into, lookup);
    return ended(scores, span, candidates);
  }

  private CompletableFuture<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, OperationSpan span) {
    CompletableFuture<Scores> scores;
    try {
      scores = withDeadline(cycle, plugin.score(cycle, endpoints, into, span.context()));
    } catch (RuntimeException | LinkageError e) {
      return CompletableFuture.completedFuture(end(span, null, e, endpoints.size()));
    }
    return ended(scores, span, endpoints.size());
  }

  /**
   * Returns a future with the same scores, which fails if they miss the deadline.
   *
   * <p>Only a plain {@link CompletableFuture} is checked for completion. Other stages may not
   * support the check, such as {@link CompletableFuture#minimalCompletionStage()}.
   */
  private static CompletableFuture<Scores> withDeadline(
      Cycle cycle, CompletionStage<Scores> scores) {
    if (scores.getClass() == CompletableFuture.class
        && scores instanceof CompletableFuture<Scores> future
        && future.isDone()) {
      return future;
    }
    // A separate future, because the scorer's own must not be completed here.
    CompletableFuture<Scores> bounded = new CompletableFuture<>();
    scores.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            bounded.completeExceptionally(failure);
          } else {
            bounded.complete(result);
          }
        });
    if (bounded.isDone()) {
      return bounded;
    }
    long nanosLeft = cycle.nanosLeft();
    return nanosLeft <= 0
        ? CompletableFuture.failedFuture(new TimeoutException())
        : bounded.orTimeout(nanosLeft, TimeUnit.NANOSECONDS);
  }

  /** Ends the span when the scores are complete, which may be immediately. */
  private static CompletableFuture<Scores> ended(
      CompletableFuture<Scores> scores, OperationSpan span, int candidates) {
    if (scores.isDone() && !scores.isCompletedExceptionally()) {
      Scores known = scores.join();
      Scores result = end(span, known, null, candidates);
      return result == known ? scores : CompletableFuture.completedFuture(result);
    }
    return scores.handle((result, failure) -> end(span, result, failure, candidates));
  }

  /**
   * Ends the span and returns the scores. After a failure, returns a new buffer, because the scorer
   * may still write into its own.
   */
  private static Scores end(
      OperationSpan span, @Nullable Scores scores, @Nullable Throwable failure, int candidates) {
    Scores result = failure == null && scores != null ? scores : null;
    if (result == null) {
      span.fail(failure instanceof CompletionException ? failure.getCause() : failure);
    } else if (result.size() != candidates) {
      span.fail(WRONG_SIZE, "the scorer did not return one score for each endpoint");
      result = null;
    } else {
      EppTracing.scored(span, result);
    }
    span.close();
    return result == null ? Scores.of(candidates) : result;
  }
}
