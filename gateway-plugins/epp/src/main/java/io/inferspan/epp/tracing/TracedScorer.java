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
      scores = inTime(cycle, plugin.score(cycle, endpoints, into, span.context()));
    } catch (RuntimeException | LinkageError e) {
      return CompletableFuture.completedFuture(end(span, null, e, endpoints.size()));
    }
    return ended(scores, span, endpoints.size());
  }

  /**
   * Returns the same scores, or a timeout if they miss the deadline.
   *
   * <p>A scorer may return any stage. Only a plain future is checked for completion, because other
   * stages may not support that, such as {@link CompletableFuture#minimalCompletionStage()}.
   */
  private static CompletableFuture<Scores> inTime(Cycle cycle, CompletionStage<Scores> scores) {
    if (scores.getClass() == CompletableFuture.class
        && scores instanceof CompletableFuture<Scores> future
        && future.isDone()) {
      return future;
    }
    // A separate future, because the scorer's own must not be completed here.
    CompletableFuture<Scores> bounded = new CompletableFuture<>();
    scores.whenComplete(
        (answer, failure) -> {
          if (failure != null) {
            bounded.completeExceptionally(failure);
          } else {
            bounded.complete(answer);
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
      Scores there = scores.join();
      Scores answer = end(span, there, null, candidates);
      return answer == there ? scores : CompletableFuture.completedFuture(answer);
    }
    return scores.handle((answer, failure) -> end(span, answer, failure, candidates));
  }

  /** Returns a new buffer after a failure, because the scorer may still write into its own. */
  private static Scores end(
      OperationSpan span, @Nullable Scores scores, @Nullable Throwable failure, int candidates) {
    Scores answer = failure == null && scores != null ? scores : null;
    if (answer == null) {
      span.fail(failure instanceof CompletionException ? failure.getCause() : failure);
    } else if (answer.size() != candidates) {
      span.fail(WRONG_SIZE, "the scorer did not return one score for each endpoint");
      answer = null;
    } else {
      EppTracing.scored(span, answer);
    }
    span.close();
    return answer == null ? Scores.of(candidates) : answer;
  }
}
