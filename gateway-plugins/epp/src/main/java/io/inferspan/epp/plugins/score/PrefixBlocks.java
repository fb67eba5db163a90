package io.inferspan.epp.plugins.score;

import io.inferspan.epp.InferenceRequest;

/**
 * The blocks of a prompt as chained hashes: equal hashes mean equal prompts up to that block.
 *
 * @param hashes a hash for each whole block
 * @param inputTokens the number of tokens in the prompt, estimated if it was not tokenised
 * @param blockTokens the number of tokens in a block
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record PrefixBlocks(long[] hashes, int inputTokens, int blockTokens) {
  /** llm-d's estimate of a token's size. */
  private static final int BYTES_PER_TOKEN = 4;

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long[] NO_HASHES = {};

  static PrefixBlocks of(InferenceRequest request, int blockTokens, int maxBlocks) {
    long seed = mixed(request.model().hashCode());
    int[] tokens = request.tokens();
    if (tokens != null) {
      return new PrefixBlocks(
          ofTokens(tokens, seed, blockTokens, maxBlocks), tokens.length, blockTokens);
    }
    byte[] input = request.input();
    return input == null
        ? new PrefixBlocks(NO_HASHES, 0, blockTokens)
        : new PrefixBlocks(
            ofBytes(input, seed, blockTokens * BYTES_PER_TOKEN, maxBlocks),
            input.length / BYTES_PER_TOKEN,
            blockTokens);
  }

  private static long[] ofTokens(int[] tokens, long seed, int block, int maxBlocks) {
    long[] hashes = new long[Math.min(maxBlocks, tokens.length / block)];
    long hash = seed;
    for (int i = 0; i < hashes.length; i++) {
      for (int t = i * block; t < (i + 1) * block; t++) {
        hash = mixed(hash ^ tokens[t]);
      }
      hashes[i] = hash;
    }
    return hashes;
  }

  private static long[] ofBytes(byte[] input, long seed, int block, int maxBlocks) {
    long[] hashes = new long[Math.min(maxBlocks, input.length / block)];
    long hash = seed;
    for (int i = 0; i < hashes.length; i++) {
      for (int b = i * block; b < (i + 1) * block; b++) {
        hash = mixed(hash ^ (input[b] & 0xff));
      }
      hashes[i] = hash;
    }
    return hashes;
  }

  /** Mixes a value: each bit of the result depends on each input bit, to avoid collisions. */
  private static long mixed(long value) {
    long hash = (value + GOLDEN) * 0xBF58476D1CE4E5B9L;
    hash ^= hash >>> 29;
    hash *= 0x94D049BB133111EBL;
    return hash ^ (hash >>> 32);
  }
}
