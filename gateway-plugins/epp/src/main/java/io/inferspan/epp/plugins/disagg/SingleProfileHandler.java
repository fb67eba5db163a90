package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs the only profile, for pods that do both prefill and decode. */
public final class SingleProfileHandler implements ProfileHandler {

  /** Creates the handler, which has no settings. */
  public SingleProfileHandler() {}

  @Override
  public String type() {
    return "single-profile-handler";
  }

  @Override
  public Shape shape() {
    return Shape.SINGLE;
  }

  @Override
  public Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    return results.isEmpty() ? Pick.run(profiles.iterator().next(), "run") : Pick.end("complete");
  }

  @Override
  public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
    return SchedulingResult.to(
        cycle, results.isEmpty() ? List.of() : results.values().iterator().next());
  }
}
