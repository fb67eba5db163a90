package io.inferspan.epp.scheduling;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scores;
import io.inferspan.epp.scheduling.SchedulerProfile.Weighted;
import io.inferspan.epp.tracing.EppTracing;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Runs one profile. Its plugins are decorated, and the decorators handle their failures. */
final class ProfileRunner {

  private static final String NO_ENDPOINTS = "no_endpoints";

  private final String name;
  private final EppTracing tracing;
  private final Filter filters;
  private final List<Weighted> scorers;
  private final Picker picker;

  ProfileRunner(SchedulerProfile profile, EppTracing tracing) {
    this.name = profile.name;
    this.tracing = tracing;
    this.filters = tracing.traced(profile.filters);
    this.scorers =
        profile.scorers.stream()
            .map(each -> new Weighted(tracing.traced(each.scorer(), each.weight()), each.weight()))
            .toList();
    this.picker = tracing.traced(profile.picker);
  }

  String name() {
    return name;
  }

  /**
   * Returns the endpoints that the profile chooses; none if all were filtered out or a plugin
   * failed.
   */
  CompletionStage<List<Endpoint>> run(Cycle cycle, List<Endpoint> candidates, Context context) {
    OperationSpan span = tracing.profileRun(name, context);
    List<Endpoint> left = filters.filter(cycle, candidates, span.context());
    if (left.isEmpty()) {
      return Scores.of(0).done().thenApply(none -> ended(span, List.of(), null));
    }
    return score(cycle, left, span.context())
        .thenApply(scores -> picker.pick(cycle, left, scores, span.context()))
        .handle((chosen, failure) -> ended(span, chosen == null ? List.of() : chosen, failure));
  }

  /** Runs the scorers sequentially, so that a scorer can read the notes of earlier ones. */
  private CompletionStage<Scores> score(Cycle cycle, List<Endpoint> endpoints, Context context) {
    int candidates = endpoints.size();
    OperationSpan span = tracing.scoring(cycle.request(), scorers.size(), candidates, context);
    CompletionStage<Scores> sum = Scores.of(candidates).done();
    for (Weighted each : scorers) {
      sum =
          sum.thenCompose(
              soFar ->
                  each.scorer()
                      .score(cycle, endpoints, Scores.of(candidates), span.context())
                      .thenApply(scores -> added(soFar, scores, each.weight())));
    }
    return sum.whenComplete((scores, failure) -> span.close());
  }

  private static Scores added(Scores sum, Scores scores, double weight) {
    sum.add(scores, weight);
    return sum;
  }

  private static List<Endpoint> ended(
      OperationSpan span, List<Endpoint> chosen, @Nullable Throwable failure) {
    if (failure != null) {
      span.fail(failure);
    } else if (chosen.isEmpty()) {
      span.fail(NO_ENDPOINTS, "no endpoints available for the given request");
    }
    span.close();
    return chosen;
  }
}
