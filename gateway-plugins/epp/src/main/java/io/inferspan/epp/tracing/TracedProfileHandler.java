package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decorates a profile handler with a span for each call. */
record TracedProfileHandler(EppTracing tracing, ProfileHandler plugin)
    implements ProfileHandler, Decorator {
  private static final String FAILED = "error";

  @Override
  public Shape shape() {
    return plugin.shape();
  }

  @Override
  public Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    try (OperationSpan span = open(cycle, profiles.size(), results.size(), context)) {
      try {
        Context inner = span == null ? context : span.context();
        // A handler that was compiled without null checks may return null.
        Pick pick = Objects.requireNonNull(plugin.pick(cycle, profiles, results, inner));
        Objects.requireNonNull(pick.profiles());
        if (span != null) {
          EppTracing.decided(span, plugin.shape(), pick);
        }
        return pick;
      } catch (RuntimeException | LinkageError e) {
        PluginFailures.record(plugin, span, e);
        return Pick.end(FAILED);
      }
    }
  }

  private @Nullable OperationSpan open(Cycle cycle, int profiles, int executed, Context context) {
    return switch (plugin.shape()) {
      case SINGLE -> null;
      case PREFILL_DECODE -> tracing.profileHandler(cycle.request(), profiles, executed, context);
      case STAGED -> tracing.disaggProfileHandler(cycle.request(), context);
    };
  }

  @Override
  public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
    try {
      return Objects.requireNonNull(plugin.conclude(cycle, results));
    } catch (RuntimeException | LinkageError e) {
      PluginFailures.record(plugin, null, e);
      return SchedulingResult.failed(cycle, "the profile handler failed");
    }
  }
}
