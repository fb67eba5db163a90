package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/**
 * The P/D decision and its reason; null for what no span reports.
 *
 * @param route {@code pd} or {@code decode}, or the decision as the picker reports it
 * @param decision the decision as the picker reports it
 */
public record Decision(
    String route,
    String decision,
    @Nullable String reason,
    Grounds grounds,
    @Nullable String prefillPod,
    @Nullable String decodePod) {

  /** The inputs of the decision. */
  public record Grounds(
      @Nullable Long pdThreshold, @Nullable Long nonCachedBytes, @Nullable Long userInputBytes) {}
}
