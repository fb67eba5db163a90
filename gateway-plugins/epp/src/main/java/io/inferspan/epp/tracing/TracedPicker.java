package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Objects;

/** Decorates a picker with its span. */
record TracedPicker(EppTracing tracing, Picker plugin) implements Picker, Decorator {
  @Override
  public List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    try (OperationSpan span = tracing.picker(endpoints, scores, context)) {
      try {
        return Objects.requireNonNull(plugin.pick(cycle, endpoints, scores, span.context()));
      } catch (RuntimeException | LinkageError e) {
        span.fail(e);
        return best(endpoints, scores);
      }
    }
  }

  private static List<Endpoint> best(List<Endpoint> endpoints, Scores scores) {
    if (endpoints.isEmpty()) {
      return List.of();
    }
    int best = 0;
    for (int i = 1; i < endpoints.size(); i++) {
      if (scores.at(i) > scores.at(best)) {
        best = i;
      }
    }
    return List.of(endpoints.get(best));
  }
}
