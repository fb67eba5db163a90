package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PdReasoning;
import org.jspecify.annotations.Nullable;

/** Decides whether a stage runs on another pod. */
@FunctionalInterface
public interface Decider {

  /**
   * Decides.
   *
   * @param decode the endpoint that will decode, or null where that is not known yet
   */
  PdReasoning decide(Cycle cycle, @Nullable Endpoint decode);

  /** Always yes. */
  static Decider always() {
    return (cycle, decode) -> PdReasoning.of(true, "always");
  }

  /** Yes where there are media in the input. */
  static Decider multimodal() {
    return (cycle, decode) ->
        cycle.request().mediaItems() > 0
            ? PdReasoning.of(true, "media")
            : PdReasoning.of(false, "no_media");
  }
}
