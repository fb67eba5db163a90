package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/**
 * Where a request was to be prefilled and decoded, and why; null for what nobody said.
 *
 * @param route {@code pd} or {@code decode}, or the decision in the picker's own words
 * @param decision in the picker's own words
 */
public record Decision(
    String route,
    String decision,
    @Nullable String reason,
    Grounds grounds,
    @Nullable String prefillPod,
    @Nullable String decodePod) {

  /** What the decision was made from. */
  public record Grounds(
      @Nullable Long pdThreshold, @Nullable Long nonCachedBytes, @Nullable Long userInputBytes) {}
}
