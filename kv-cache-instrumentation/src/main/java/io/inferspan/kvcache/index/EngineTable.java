package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Engines' hashes and the blocks that they map to. */
final class EngineTable {

  private final LongAdder evictions = new LongAdder();
  private final Cache<BlockKey, long[]> blocks;

  EngineTable(MemoryBound bound) {
    this.blocks = bound.table(keys -> MemoryBound.arrayBytes(keys.length, Long.BYTES), evictions);
  }

  /**
   * Maps each hash to the blocks at its position. If there are not as many blocks as hashes,
   * positions are scaled in proportion.
   */
  void map(long[] engineKeys, long[] requestKeys) {
    int e = engineKeys.length;
    int r = requestKeys.length;
    for (int i = 0; i < e && r > 0; i++) {
      // With n = max(e, r), hash i*e/n maps to key i*r/n for all i below n.
      int from = e >= r ? (int) ((long) i * r / e) : (int) (((long) i * r + e - 1) / e);
      int to = e >= r ? from + 1 : (int) (((i + 1L) * r + e - 1) / e);
      put(engineKeys[i], Arrays.copyOfRange(requestKeys, from, to));
    }
  }

  private void put(long engineKey, long[] requestKeys) {
    // Locks the key even if nothing changes, so that a concurrent dropUnless sees the new holders.
    blocks
        .asMap()
        .compute(
            new BlockKey(engineKey),
            (same, before) ->
                before != null && Arrays.equals(before, requestKeys) ? before : requestKeys);
  }

  /** Returns the blocks that a hash maps to, or null if it is unknown. */
  long @Nullable [] of(long engineKey) {
    return blocks.getIfPresent(new BlockKey(engineKey));
  }

  /** Drops a hash unless {@code needed} returns true for its blocks. */
  void dropUnless(long engineKey, Predicate<long[]> needed) {
    blocks
        .asMap()
        .computeIfPresent(new BlockKey(engineKey), (same, keys) -> needed.test(keys) ? keys : null);
  }

  void drop() {
    blocks.invalidateAll();
  }

  long evictions() {
    return evictions.sum();
  }
}
