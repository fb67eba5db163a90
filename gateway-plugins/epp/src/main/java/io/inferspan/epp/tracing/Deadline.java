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

  /**
   * The same scores, or a timeout where they do not come in time.
   *
   * <p>The stage is any that a scorer returns. Only a plain future is asked whether it is done:
   * other stages may refuse to say, such as {@link CompletableFuture#minimalCompletionStage()}.
   */
  static CompletableFuture<Scores> of(Cycle cycle, CompletionStage<Scores> scores) {
    if (scores.getClass() == CompletableFuture.class
        && scores instanceof CompletableFuture<Scores> future
        && future.isDone()) {
      return future;
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
    if (bounded.isDone()) {
      return bounded;
    }
    long nanosLeft = cycle.nanosLeft();
    return nanosLeft <= 0
        ? CompletableFuture.failedFuture(new TimeoutException())
        : bounded.orTimeout(nanosLeft, TimeUnit.NANOSECONDS);
  }
}
