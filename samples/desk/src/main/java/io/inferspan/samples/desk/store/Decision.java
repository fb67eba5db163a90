package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/**
 * The P/D (prefill/decode) decision and its reason. A value that no span reports is null.
 *
 * @param route {@code pd}, {@code decode}, or another decision as the endpoint picker reports it
 * @param decision the decision as the endpoint picker reports it; the same as {@code route} if it
 *     reports none
 */
public record Decision(
    String route,
    String decision,
    @Nullable String reason,
    Inputs inputs,
    @Nullable String prefillPod,
    @Nullable String decodePod) {

  /** The inputs of the decision. */
  public record Inputs(
      @Nullable Long pdThreshold, @Nullable Long nonCachedBytes, @Nullable Long userInputBytes) {}
}
