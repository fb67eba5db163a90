package io.inferspan.kvcache.block;

import java.util.List;

/**
 * One way to chain blocks into keys.
 *
 * <p>It may keep scratch space between calls, so each thread has its own.
 */
sealed interface BlockHasher permits CborFnvHasher, Xxh64Hasher {

  /** The parent of a model's first block. */
  long root(String model);

  /**
   * The key of one block.
   *
   * @param from the block's first token
   * @param to behind its last
   * @param extras what belongs to the block beside its tokens; mostly empty
   */
  long next(long parent, int[] tokens, int from, int to, List<String> extras);
}
