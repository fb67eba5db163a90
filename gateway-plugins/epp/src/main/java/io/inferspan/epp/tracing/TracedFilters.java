package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.inferspan.semconv.EppAttributes;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Objects;

/** A chain of filters under one span; it stops when no endpoint is left. */
record TracedFilters(EppTracing tracing, List<Filter> chain) implements Filter {
  private static final String TYPE = "filter-chain";

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public List<Endpoint> filter(Cycle cycle, List<Endpoint> endpoints, Context context) {
    try (OperationSpan span = tracing.filters(cycle.request(), endpoints.size(), context)) {
      List<Endpoint> left = endpoints;
      for (int i = 0; i < chain.size() && !left.isEmpty(); i++) {
        left = through(chain.get(i), cycle, left, span);
      }
      span.set(EppAttributes.FILTER_KEPT, left.size());
      return left;
    }
  }

  private static List<Endpoint> through(
      Filter filter, Cycle cycle, List<Endpoint> endpoints, OperationSpan span) {
    try {
      // A plugin that was compiled without null checks may return null.
      return Objects.requireNonNull(filter.filter(cycle, endpoints, span.context()));
    } catch (RuntimeException | LinkageError e) {
      span.fail(e);
      return endpoints;
    }
  }
}
