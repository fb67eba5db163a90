package io.inferspan.epp.scheduling;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.values.BoundedNames;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests by the stages that serve them, in llm-d's metric {@code
 * llm_d_epp_disagg_decision_total}.
 */
final class DecisionCounter {

  private static final Logger LOGGER = System.getLogger("io.inferspan");
  private static final String NAME = "llm_d.epp.disagg.decision";
  private static final int MAX_MODELS = 64;

  private final MeterRegistry registry;
  private final ProfileHandler handler;
  private final Predicate<String> served;
  private final BoundedNames models = new BoundedNames(MAX_MODELS);
  private final Map<Decision, Counter> counters = new ConcurrentHashMap<>();

  DecisionCounter(MeterRegistry registry, ProfileHandler handler, Predicate<String> served) {
    this.registry = registry;
    this.handler = handler;
    this.served = served;
  }

  private record Decision(String model, String type) {}

  /** Counts a result, unless it has no target. */
  void count(SchedulingResult result) {
    if (result.target() == null || handler.shape() == ProfileHandler.Shape.SINGLE) {
      return;
    }
    try {
      String requested = result.cycle().request().model();
      String model = models.tag(requested, served.test(requested));
      counters.computeIfAbsent(new Decision(model, type(result)), this::counter).increment();
    } catch (RuntimeException e) {
      // A failing registry or model predicate must not fail the request.
      LOGGER.log(Level.DEBUG, "A decision could not be counted", e);
    }
  }

  private static String type(SchedulingResult result) {
    String stages =
        (has(result.encode()) ? "encode-" : "") + (has(result.prefill()) ? "prefill-" : "");
    return stages.isEmpty() ? "decode-only" : stages + "decode";
  }

  private static boolean has(@Nullable List<Endpoint> stage) {
    return stage != null && !stage.isEmpty();
  }

  private Counter counter(Decision decision) {
    return Counter.builder(NAME)
        .description("Requests by the stages that serve them")
        .tag("plugin_name", handler.name())
        .tag("plugin_type", handler.type())
        .tag("model_name", decision.model())
        .tag("decision_type", decision.type())
        .register(registry);
  }
}
