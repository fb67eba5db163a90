package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PdReasoning;
import org.jspecify.annotations.Nullable;

/** Decides whether a stage runs on another pod. */
@FunctionalInterface
public interface Decider {

  /**
   * Returns whether the stage runs on another pod for this request, and why.
   *
   * @param decode the endpoint that will decode, or null if it is not chosen yet
   */
  PdReasoning decide(Cycle cycle, @Nullable Endpoint decode);

  /** Returns a decider that always runs the stage on another pod. */
  static Decider always() {
    return (cycle, decode) -> PdReasoning.of(true, "always");
  }

  /** Returns a decider that runs the stage on another pod if the input contains media. */
  static Decider multimodal() {
    return (cycle, decode) ->
        cycle.request().mediaItems() > 0
            ? PdReasoning.of(true, "media")
            : PdReasoning.of(false, "no_media");
  }
}
