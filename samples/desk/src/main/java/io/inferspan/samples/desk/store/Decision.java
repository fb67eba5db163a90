package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/**
 * The P/D decision and its reason. A value that no span reports is null.
 *
 * @param route {@code pd}, {@code decode}, or another decision as the endpoint picker reports it
 * @param decision the words of the endpoint picker; the same as {@code route} if it reported none
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
