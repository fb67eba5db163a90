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

/** Decorates a profile handler with a span for each call. */
final class TracedProfileHandler implements ProfileHandler {

  private static final String FAILED = "error";

  private final EppTracing tracing;
  private final ProfileHandler handler;

  TracedProfileHandler(EppTracing tracing, ProfileHandler handler) {
    this.tracing = tracing;
    this.handler = handler;
  }

  @Override
  public String type() {
    return handler.type();
  }

  @Override
  public String name() {
    return handler.name();
  }

  @Override
  public Shape shape() {
    return handler.shape();
  }

  @Override
  public Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    if (handler.shape() == Shape.SINGLE) {
      return pickUntraced(cycle, profiles, results, context);
    }
    try (OperationSpan span = open(cycle, profiles.size(), results.size(), context)) {
      try {
        Pick pick = requirePick(cycle, profiles, results, span.context());
        EppTracing.decided(span, handler.shape(), pick);
        return pick;
      } catch (RuntimeException | LinkageError e) {
        span.fail(e);
        return Pick.end(FAILED);
      }
    }
  }

  private Pick pickUntraced(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    try {
      return requirePick(cycle, profiles, results, context);
    } catch (RuntimeException | LinkageError e) {
      QuietLog.failed(handler, e);
      return Pick.end(FAILED);
    }
  }

  /**
   * Returns the handler's decision. A handler that was compiled without null checks may return
   * null.
   */
  private Pick requirePick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    Pick pick = Objects.requireNonNull(handler.pick(cycle, profiles, results, context));
    Objects.requireNonNull(pick.profiles());
    return pick;
  }

  private OperationSpan open(Cycle cycle, int profiles, int executed, Context context) {
    return handler.shape() == Shape.STAGED
        ? tracing.disaggProfileHandler(cycle.request(), context)
        : tracing.profileHandler(cycle.request(), profiles, executed, context);
  }

  @Override
  public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
    try {
      return Objects.requireNonNull(handler.conclude(cycle, results));
    } catch (RuntimeException | LinkageError e) {
      QuietLog.failed(handler, e);
      return SchedulingResult.failed(cycle, "the profile handler failed");
    }
  }
}
