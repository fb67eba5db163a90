package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.ToDoubleFunction;

/** Scores each endpoint by one measure of its load, and by the least and the most of all. */
final class LoadScorer implements Scorer {

  private final String type;
  private final ToDoubleFunction<Endpoint.Metrics> measure;
  private final Rule rule;

  /** Converts a load to a score, given the other loads. */
  @FunctionalInterface
  interface Rule {
    double score(double load, double least, double most);

    /** By where it lies between the least, which gets 1, and the most; equals get 1. */
    static double byRange(double load, double least, double most) {
      return most == least ? 1 : (most - load) / (most - least);
    }
  }

  LoadScorer(String type, ToDoubleFunction<Endpoint.Metrics> measure, Rule rule) {
    this.type = type;
    this.measure = measure;
    this.rule = rule;
  }

  @Override
  public String type() {
    return type;
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < endpoints.size(); i++) {
      double load = measure.applyAsDouble(endpoints.get(i).metrics());
      into.raw(load);
      least = Math.min(least, load);
      most = Math.max(most, load);
    }
    for (int i = 0; i < endpoints.size(); i++) {
      into.set(i, rule.score(measure.applyAsDouble(endpoints.get(i).metrics()), least, most));
    }
    return into.done();
  }
}
