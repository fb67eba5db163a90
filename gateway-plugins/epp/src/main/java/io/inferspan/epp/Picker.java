package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;

/** Chooses among scored endpoints; it must not block. */
public interface Picker extends Plugin {

  /**
   * Returns the chosen endpoints, in order of preference.
   *
   * @param endpoints at least one
   * @param scores the weighted sum of all scorers, one for each endpoint
   */
  List<Endpoint> pick(Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context);
}
