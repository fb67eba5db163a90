package io.inferspan.epp.tracing;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Scores;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The end of the wait for a scorer. */
final class Deadline {

  private Deadline() {}

  /** The same scores, or a timeout where they do not come in time. */
  static CompletionStage<Scores> of(Cycle cycle, CompletionStage<Scores> scores) {
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
