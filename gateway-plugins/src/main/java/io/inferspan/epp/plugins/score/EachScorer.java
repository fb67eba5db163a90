package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.ToDoubleFunction;

/** Scores each endpoint by its own load, whatever that of the others. */
final class EachScorer implements Scorer {

  private final String type;
  private final ToDoubleFunction<Endpoint.Metrics> score;

  EachScorer(String type, ToDoubleFunction<Endpoint.Metrics> score) {
    this.type = type;
    this.score = score;
  }

  @Override
  public String type() {
    return type;
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    for (int i = 0; i < endpoints.size(); i++) {
      into.set(i, score.applyAsDouble(endpoints.get(i).metrics()));
    }
    return into.done();
  }
}
