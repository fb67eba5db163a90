package io.inferspan.epp;

import java.util.Map;

/**
 * The length of the prompt's prefix in each endpoint's cache; a prefix scorer stores it in the
 * {@link Cycle}.
 *
 * @param blockTokens tokens in a block
 * @param inputTokens tokens in the prompt, estimated if it was not tokenised
 * @param blocks matching blocks from the first on, by {@link Endpoint#id()}
 */
public record PrefixMatches(int blockTokens, int inputTokens, Map<String, Integer> blocks) {

  /** Returns whether the match of the endpoint is known. */
  public boolean knows(Endpoint endpoint) {
    return blocks.containsKey(endpoint.id());
  }

  /** Returns the number of whole blocks that the endpoint holds; 0 if unknown. */
  public int blocksAt(Endpoint endpoint) {
    return blocks.getOrDefault(endpoint.id(), 0);
  }

  /** Returns the number of tokens that the endpoint holds. */
  public long tokensAt(Endpoint endpoint) {
    return (long) blocksAt(endpoint) * blockTokens;
  }

  /** Returns the share of the prompt that the endpoint holds, 0 to 1. */
  public double ratioAt(Endpoint endpoint) {
    return inputTokens == 0 ? 0 : Math.min(1, (double) tokensAt(endpoint) / inputTokens);
  }

  /** Returns whether no endpoint holds a block of the prompt. */
  public boolean isCold() {
    return blocks.values().stream().allMatch(count -> count == 0);
  }
}
