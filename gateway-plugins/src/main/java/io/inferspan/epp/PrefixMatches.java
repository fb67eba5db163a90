package io.inferspan.epp;

import java.util.Map;

/**
 * How much of the prompt each endpoint holds in its cache; a prefix scorer leaves it in the {@link
 * Cycle}.
 *
 * @param blockTokens tokens in a block
 * @param inputTokens tokens in the prompt, estimated where it was not tokenised
 * @param blocks whole blocks from the first on, by {@link Endpoint#id()}
 */
public record PrefixMatches(int blockTokens, int inputTokens, Map<String, Integer> blocks) {

  /** Whether anything is known of the endpoint. */
  public boolean knows(Endpoint endpoint) {
    return blocks.containsKey(endpoint.id());
  }

  /** Whole blocks that the endpoint holds; 0 where nothing is known of it. */
  public int blocksAt(Endpoint endpoint) {
    return blocks.getOrDefault(endpoint.id(), 0);
  }

  /** Tokens that the endpoint holds. */
  public long tokensAt(Endpoint endpoint) {
    return (long) blocksAt(endpoint) * blockTokens;
  }

  /** The share of the prompt that the endpoint holds, 0 to 1. */
  public double ratioAt(Endpoint endpoint) {
    return inputTokens == 0 ? 0 : Math.min(1, (double) tokensAt(endpoint) / inputTokens);
  }

  /** Whether no endpoint holds a block of it. */
  public boolean isCold() {
    return blocks.values().stream().allMatch(count -> count == 0);
  }
}
