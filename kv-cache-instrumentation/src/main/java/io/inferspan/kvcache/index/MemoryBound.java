package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;

/**
 * The limits of a table in entries and in bytes.
 *
 * <p>A Caffeine cache has a single limit. An entry therefore weighs its size in bytes, but at least
 * the byte limit divided by the entry limit, so that neither limit can be exceeded. If some entries
 * are smaller than that and some are larger, the table evicts a little early.
 */
record MemoryBound(long entries, long bytes) {

  /**
   * The cost of an entry in addition to its value: the cache's node, the hash table's node, the
   * slot and the key.
   */
  private static final int ENTRY_BYTES = 128;

  private static final int ARRAY_HEADER_BYTES = 16;

  /** The upper limit of an entry's minimum weight, so that weights do not overflow an int. */
  private static final long MAX_SHARE = 1 << 20;

  /** Creates a table within the limits that counts its evictions in {@code evictions}. */
  <V> Cache<BlockKey, V> table(ToIntFunction<V> valueBytes, LongAdder evictions) {
    int share = (int) Math.min(MAX_SHARE, (bytes + entries - 1) / entries);
    // A share up to ENTRY_BYTES has no effect, because every entry weighs at least that. A larger
    // share is rounded up, so the total is rounded up with it.
    long maxWeight = share <= ENTRY_BYTES ? bytes : share * entries;
    // Maintenance is short, so it runs on the caller's thread.
    return Caffeine.newBuilder()
        .executor(Runnable::run)
        .maximumWeight(maxWeight)
        .<BlockKey, V>weigher(
            (key, value) -> Math.max(share, ENTRY_BYTES + valueBytes.applyAsInt(value)))
        .evictionListener((key, value, cause) -> evictions.increment())
        .build();
  }

  /** Returns the size of an array, rounded as the heap rounds it. */
  static int arrayBytes(int length, int elementBytes) {
    return ARRAY_HEADER_BYTES + ((length * elementBytes + 7) & ~7);
  }
}
