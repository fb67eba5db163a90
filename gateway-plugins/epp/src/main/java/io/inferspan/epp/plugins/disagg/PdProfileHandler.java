package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The {@code pd-profile-handler} of llm-d's tracing proposal: runs decode, then prefill if a
 * decider requires it.
 */
public final class PdProfileHandler implements ProfileHandler {

  private final Decider decider;
  private final String decode;
  private final String prefill;

  /** Creates a handler for the profiles {@code decode} and {@code prefill}. */
  public PdProfileHandler(Decider decider) {
    this(decider, Stages.DECODE, Stages.PREFILL);
  }

  /** Creates a handler for profiles with these names. */
  public PdProfileHandler(Decider decider, String decode, String prefill) {
    this.decider = decider;
    this.decode = decode;
    this.prefill = prefill;
  }

  @Override
  public String type() {
    return "pd-profile-handler";
  }

  @Override
  public Shape shape() {
    return Shape.PREFILL_DECODE;
  }

  @Override
  public Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    List<Endpoint> decoders = results.get(decode);
    if (decoders == null) {
      return Pick.run(decode, "run_decode");
    }
    if (decoders.isEmpty()) {
      return Pick.end("complete").withDecodeFailed();
    }
    if (results.containsKey(prefill) || !profiles.contains(prefill)) {
      return Pick.end("complete");
    }
    PdReasoning reasoning = decider.decide(cycle, decoders.get(0));
    return reasoning.disaggregate()
        ? Pick.run(prefill, "prefill_decode").because(reasoning)
        : Pick.end("decode_only").because(reasoning);
  }

  @Override
  public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
    return Stages.result(cycle, results.get(decode)).withStages(results.get(prefill), null);
  }
}
