package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;

/** Removes endpoints that cannot serve the request; it must not block. */
public interface Filter extends Plugin {

  /** Returns the endpoints that may serve the request, in the same order. */
  List<Endpoint> filter(Cycle cycle, List<Endpoint> endpoints, Context context);
}
