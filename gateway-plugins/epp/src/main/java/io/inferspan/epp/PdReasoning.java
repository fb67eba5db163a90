package io.inferspan.epp;

/**
 * The decision whether prefill runs on another pod, with its reason. Unknown counts are negative.
 *
 * @param disaggregate whether prefill runs on another pod
 * @param reason the reason in one word
 * @param thresholdBytes the minimum number of non-cached bytes for prefill on another pod
 * @param inputBytes size of the user's input
 * @param cachedBlocks input blocks that the decode pod holds
 * @param cacheHitRatio share of the input that the decode pod holds
 * @param nonCachedBytes input bytes that the decode pod does not hold
 */
public record PdReasoning(
    boolean disaggregate,
    String reason,
    long thresholdBytes,
    long inputBytes,
    long cachedBlocks,
    double cacheHitRatio,
    long nonCachedBytes) {

  /** The reason if the size of the input is needed, but unknown. */
  public static final String INPUT_UNKNOWN = "input_size_unknown";

  private static final long UNKNOWN = -1;

  /** Returns a decision without measurements. */
  public static PdReasoning of(boolean disaggregate, String reason) {
    return new PdReasoning(disaggregate, reason, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
  }
}
