package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import org.jspecify.annotations.Nullable;

/** Decorates a pre-request plugin, with a span if it prepares disaggregation. */
record TracedPreRequest(EppTracing tracing, PreRequest plugin) implements PreRequest, Decorator {
  @Override
  public boolean preparesDisaggregation() {
    return plugin.preparesDisaggregation();
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    try (OperationSpan span = span(result)) {
      try {
        plugin.prepare(result, headers);
      } catch (RuntimeException | LinkageError e) {
        PluginFailures.record(plugin, span, e);
      }
    }
  }

  private @Nullable OperationSpan span(SchedulingResult result) {
    return preparesDisaggregation() ? tracing.preRequest(result, result.cycle().context()) : null;
  }
}
