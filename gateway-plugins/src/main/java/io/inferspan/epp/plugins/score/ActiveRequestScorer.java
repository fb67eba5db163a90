package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Prefers endpoints with few of our requests, idle ones above all. */
final class ActiveRequestScorer implements Scorer {

  private final int idleRequests;
  private final double maxBusyScore;

  ActiveRequestScorer(int idleRequests, double maxBusyScore) {
    this.idleRequests = idleRequests;
    this.maxBusyScore = maxBusyScore;
  }

  @Override
  public String type() {
    return "active-request-scorer";
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    int max = 0;
    for (Endpoint endpoint : endpoints) {
      max = Math.max(max, endpoint.metrics().activeRequests());
    }
    for (int i = 0; i < endpoints.size(); i++) {
      int active = endpoints.get(i).metrics().activeRequests();
      into.set(i, active <= idleRequests ? 1 : (double) (max - active) / max * maxBusyScore);
    }
    return into.done();
  }
}
