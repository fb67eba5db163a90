package io.inferspan.epp.scheduling;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A scorer that nobody waits for beyond the deadline. */
final class BoundedScorer implements Scorer {

  private final Scorer scorer;

  BoundedScorer(Scorer scorer) {
    this.scorer = scorer;
  }

  @Override
  public String type() {
    return scorer.type();
  }

  @Override
  public String name() {
    return scorer.name();
  }

  @Override
  public boolean asksIndex() {
    return scorer.asksIndex();
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    CompletionStage<Scores> scores = scorer.score(cycle, endpoints, into, context);
    if (scores instanceof CompletableFuture<Scores> future && future.isDone()) {
      return scores;
    }
    long nanosLeft = cycle.nanosLeft();
    if (nanosLeft <= 0) {
      return CompletableFuture.failedFuture(new TimeoutException());
    }
    // A future of our own: the scorer's is not ours to complete.
    CompletableFuture<Scores> bounded = new CompletableFuture<>();
    scores.whenComplete(
        (answer, failure) -> {
          if (failure != null) {
            bounded.completeExceptionally(failure);
          } else {
            bounded.complete(answer);
          }
        });
    return bounded.orTimeout(nanosLeft, TimeUnit.NANOSECONDS);
  }
}
