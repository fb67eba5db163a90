package io.inferspan.epp;

/**
 * Why prefill runs on another pod, or does not; counts that are not known are negative.
 *
 * @param disaggregate whether it does
 * @param reason why, in a word
 * @param thresholdBytes bytes without cache from which it pays off
 * @param inputBytes size of the user's input
 * @param cachedBlocks blocks of the input that the decode pod holds
 * @param cacheHitRatio share of the input that the decode pod holds
 * @param nonCachedBytes bytes of the input that the decode pod does not hold
 */
public record PdReasoning(
    boolean disaggregate,
    String reason,
    long thresholdBytes,
    long inputBytes,
    long cachedBlocks,
    double cacheHitRatio,
    long nonCachedBytes) {

  /** The reason where the size of the input is needed and nobody has measured it. */
  public static final String INPUT_UNKNOWN = "input_size_unknown";

  private static final long UNKNOWN = -1;

  /** A decision that weighed nothing. */
  public static PdReasoning of(boolean disaggregate, String reason) {
    return new PdReasoning(disaggregate, reason, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
  }
}
