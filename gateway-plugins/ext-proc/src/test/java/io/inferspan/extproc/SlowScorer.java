package io.inferspan.extproc;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A scorer that answers when it is let, on another thread. */
record SlowScorer(CompletableFuture<Void> gate) implements Scorer {

  @Override
  public String type() {
    return "slow";
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    return gate.thenCompose(open -> into.done());
  }
}
