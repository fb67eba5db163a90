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

  /** Returns whether no endpoint holds a block of the prompt. */
  public boolean isCold() {
    return blocks.values().stream().allMatch(count -> count == 0);
  }
}
