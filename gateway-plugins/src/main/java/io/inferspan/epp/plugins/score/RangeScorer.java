package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.ToIntFunction;

/** Scores each endpoint by where its load lies between the least and the most; equals get 1. */
final class RangeScorer implements Scorer {

  private final String type;
  private final ToIntFunction<Endpoint.Metrics> load;

  RangeScorer(String type, ToIntFunction<Endpoint.Metrics> load) {
    this.type = type;
    this.load = load;
  }

  @Override
  public String type() {
    return type;
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    int min = Integer.MAX_VALUE;
    int max = Integer.MIN_VALUE;
    for (int i = 0; i < endpoints.size(); i++) {
      int value = load.applyAsInt(endpoints.get(i).metrics());
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
    for (int i = 0; i < endpoints.size(); i++) {
      int value = load.applyAsInt(endpoints.get(i).metrics());
      into.set(i, max == min ? 1 : (double) (max - value) / (max - min));
    }
    return into.done();
  }
}
