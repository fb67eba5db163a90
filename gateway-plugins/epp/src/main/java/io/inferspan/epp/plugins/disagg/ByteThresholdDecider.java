package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.PrefixMatches;
import org.jspecify.annotations.Nullable;

/**
 * Runs prefill on another pod if the number of input bytes that are not in the decode pod's cache
 * reaches a threshold, as in llm-d's tracing proposal.
 *
 * <p>Without {@link PrefixMatches} from a prefix scorer, nothing counts as cached.
 */
public final class ByteThresholdDecider implements Decider {

  private final long thresholdBytes;

  /** Creates a decider with a threshold; 0 prefills every input of known size on another pod. */
  public ByteThresholdDecider(long thresholdBytes) {
    if (thresholdBytes < 0) {
      throw new IllegalArgumentException(
          "the P/D threshold is " + thresholdBytes + " bytes, but must be 0 or more");
    }
    this.thresholdBytes = thresholdBytes;
  }

  @Override
  public PdReasoning decide(Cycle cycle, @Nullable Endpoint decode) {
    long input = cycle.request().inputBytes();
    if (input == InferenceRequest.UNKNOWN) {
      return new PdReasoning(false, PdReasoning.INPUT_UNKNOWN, thresholdBytes, input, -1, -1, -1);
    }
    PrefixMatches matches = cycle.note(PrefixMatches.class);
    return matches == null || decode == null
        ? weigh(input, 0, 0)
        : weigh(input, matches.blocksAt(decode), matches.ratioAt(decode));
  }

  private PdReasoning weigh(long input, long cachedBlocks, double cacheHitRatio) {
    long nonCached = input - Math.round(input * cacheHitRatio);
    boolean disaggregate = nonCached >= thresholdBytes;
    return new PdReasoning(
        disaggregate,
        reason(input, disaggregate),
        thresholdBytes,
        input,
        cachedBlocks,
        cacheHitRatio,
        nonCached);
  }

  private String reason(long input, boolean disaggregate) {
    if (disaggregate) {
      return "non_cached_bytes_reach_threshold";
    }
    return input < thresholdBytes ? "input_below_threshold" : "mostly_cached";
  }
}
