package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs the one profile that there is: every pod does everything. */
public final class SingleProfileHandler implements ProfileHandler {

  /** A handler without settings. */
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
