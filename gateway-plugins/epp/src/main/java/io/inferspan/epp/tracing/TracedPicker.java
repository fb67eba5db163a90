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
final class TracedPicker implements Picker {

  private final EppTracing tracing;
  private final Picker picker;

  TracedPicker(EppTracing tracing, Picker picker) {
    this.tracing = tracing;
    this.picker = picker;
  }

  @Override
  public String type() {
    return picker.type();
  }

  @Override
  public String name() {
    return picker.name();
  }

  @Override
  public List<Endpoint> pick(
      Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
    try (OperationSpan span = tracing.picker(endpoints, scores, context)) {
      try {
        return Objects.requireNonNull(picker.pick(cycle, endpoints, scores, span.context()));
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
