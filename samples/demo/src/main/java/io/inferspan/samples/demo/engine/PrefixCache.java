package io.inferspan.samples.demo.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The prefix cache of an engine.
 *
 * <p>A block's hash identifies all tokens up to its end. The least recently used block is evicted
 * first.
 */
final class PrefixCache {

  /** The tokens per block, as in vLLM. */
  static final int BLOCK_TOKENS = 16;

  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private final int capacity;
  private final Map<Long, Boolean> held = new LinkedHashMap<>(64, 0.75f, true);

  PrefixCache(int capacityBlocks) {
    capacity = capacityBlocks;
  }

  /**
   * A change of the cache.
   *
   * @param firstStored the index of the first new block; the blocks after it are reported, too
   * @param evicted the hashes of the evicted blocks
   */
  record Change(int firstStored, List<Long> evicted) {}

  /** Returns the hashes of the full blocks of these tokens. */
  static long[] hashes(int[] tokens) {
    long[] hashes = new long[tokens.length / BLOCK_TOKENS];
    long hash = FNV_OFFSET;
    for (int i = 0; i < hashes.length * BLOCK_TOKENS; i++) {
      hash = (hash ^ tokens[i]) * FNV_PRIME;
      if ((i + 1) % BLOCK_TOKENS == 0) {
        hashes[i / BLOCK_TOKENS] = hash;
      }
    }
    return hashes;
  }

  /** Returns the number of leading blocks in the cache. */
  synchronized int heldBlocks(long[] hashes) {
    int blocks = 0;
    while (blocks < hashes.length && held.get(hashes[blocks]) != null) {
      blocks++;
    }
    return blocks;
  }

  /** Adds these blocks; returns the change. */
  synchronized Change store(long[] hashes) {
    int first = heldBlocks(hashes);
    for (int i = first; i < hashes.length; i++) {
      held.put(hashes[i], true);
    }
    List<Long> evicted = new ArrayList<>();
    Iterator<Long> oldest = held.keySet().iterator();
    while (held.size() > capacity) {
      evicted.add(oldest.next());
      oldest.remove();
    }
    return new Change(first, evicted);
  }
}
