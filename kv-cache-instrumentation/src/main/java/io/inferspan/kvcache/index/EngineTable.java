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
    int engines = engineKeys.length;
    int requests = requestKeys.length;
    int most = Math.max(engines, requests);
    int from = 0;
    for (int engine = 0; engine < engines && requests > 0; engine++) {
      int to = from;
      while (to < most && (int) ((long) to * engines / most) == engine) {
        to++;
      }
      int first = (int) ((long) from * requests / most);
      int last = (int) ((long) (to - 1) * requests / most);
      put(engineKeys[engine], Arrays.copyOfRange(requestKeys, first, last + 1));
      from = to;
    }
  }

  private void put(long engineKey, long[] requestKeys) {
    // Takes the key's lock even if nothing changes, so that dropUnless sees the addition.
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

  /** Drops a hash, unless its blocks are {@code needed}. */
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
