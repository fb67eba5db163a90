package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.PrefixMatches;
import org.jspecify.annotations.Nullable;

/**
 * llm-d's {@code prefix-based-pd-decider}: runs prefill on another pod if the number of tokens that
 * are not in the decode pod's cache reaches a threshold.
 *
 * <p>A prompt that was not tokenised is estimated at four bytes per token. If the decode pod's
 * cache is unknown, that pod also prefills.
 */
public final class TokenThresholdDecider implements Decider {

  private static final int BYTES_PER_TOKEN = 4;

  private final int nonCachedTokens;
  private final int promptTokens;

  /** Creates a decider with a threshold; 0 never prefills on another pod. */
  public TokenThresholdDecider(int nonCachedTokens) {
    this(nonCachedTokens, 0);
  }

  /**
   * Creates a decider with a threshold (0: never) that applies to prompts of at least {@code
   * promptTokens} (0: to all).
   */
  public TokenThresholdDecider(int nonCachedTokens, int promptTokens) {
    if (nonCachedTokens < 0 || promptTokens < 0) {
      throw new IllegalArgumentException(
          "nonCachedTokens and promptTokens of the prefix-based P/D decider are "
              + nonCachedTokens
              + " and "
              + promptTokens
              + ", but must be 0 or more");
    }
    this.nonCachedTokens = nonCachedTokens;
    this.promptTokens = promptTokens;
  }

  @Override
  public PdReasoning decide(Cycle cycle, @Nullable Endpoint decode) {
    InferenceRequest request = cycle.request();
    if (nonCachedTokens == 0) {
      return PdReasoning.of(false, "disabled");
    }
    long input = inputTokens(request);
    if (input < 0) {
      return PdReasoning.of(false, PdReasoning.INPUT_UNKNOWN);
    }
    if (input < promptTokens) {
      return PdReasoning.of(false, "input_below_prompt_tokens");
    }
    if (input < nonCachedTokens) {
      return PdReasoning.of(false, "input_below_non_cached_tokens");
    }
    PrefixMatches matches = cycle.note(PrefixMatches.class);
    if (matches == null || decode == null || !matches.knows(decode)) {
      return PdReasoning.of(false, "no_prefix_info");
    }
    return weigh(request, input, matches, decode);
  }

  private PdReasoning weigh(
      InferenceRequest request, long input, PrefixMatches matches, Endpoint decode) {
    boolean disaggregate = input - matches.tokensAt(decode) >= nonCachedTokens;
    return new PdReasoning(
        disaggregate,
        disaggregate ? "non_cached_tokens_reach_threshold" : "mostly_cached",
        -1,
        request.inputBytes(),
        matches.blocksAt(decode),
        matches.ratioAt(decode),
        -1);
  }

  private static long inputTokens(InferenceRequest request) {
    int[] tokens = request.tokens();
    if (tokens != null) {
      return tokens.length;
    }
    return request.inputBytes() < 0 ? -1 : request.inputBytes() / BYTES_PER_TOKEN;
  }
}
