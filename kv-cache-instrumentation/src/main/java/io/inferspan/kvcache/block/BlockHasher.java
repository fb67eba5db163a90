package io.inferspan.kvcache.block;

import java.util.List;

/**
 * Computes a chain of block keys, in which each key depends on the previous one.
 *
 * <p>Not thread-safe: it may keep scratch space between calls.
 */
sealed interface BlockHasher permits CborFnvHasher, Xxh64Hasher {

  /**
   * Returns the parent key of a prompt's first block, which depends on the name of the model or
   * LoRA adapter.
   */
  long root(String model);

  /**
   * Returns the key of one block.
   *
   * @param from the index of the block's first token
   * @param to the index after its last token
   * @param extras the block's content in addition to tokens; usually empty
   */
  long next(long parent, int[] tokens, int from, int to, List<String> extras);
}
