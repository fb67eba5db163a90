package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;

/**
 * How large a table may get: so many entries, and so many bytes.
 *
 * <p>A cache knows one measure only. So each entry weighs its bytes, but no less than its share of
 * them if the table had all the entries that it may have: then neither bound can be passed. Where
 * some entries are lighter than that share and some are heavier, the table is full a little early.
 */
record MemoryBound(long entries, long bytes) {

  /**
   * What an entry costs beside its value: the cache's node, the hash table's, the slot, the key.
   */
  private static final int ENTRY_BYTES = 128;

  private static final int ARRAY_HEADER_BYTES = 16;

  /** As heavy as it gets, so larger shares would mean nothing and overflow. */
  private static final long HEAVIEST = 1 << 20;

  /** A table within the bound, which counts in {@code evictions} what it lets go. */
  <V> Cache<BlockKey, V> table(ToIntFunction<V> valueBytes, LongAdder evictions) {
    int share = (int) Math.min(HEAVIEST, (bytes + entries - 1) / entries);
    // A share below what every entry weighs is no bound; above it, rounding must not cost entries.
    long most = share <= ENTRY_BYTES ? bytes : share * entries;
    // Work on the caller's thread: it is short, and a pool would be one more thing to own.
    return Caffeine.newBuilder()
        .executor(Runnable::run)
        .maximumWeight(most)
        .<BlockKey, V>weigher(
            (key, value) -> Math.max(share, ENTRY_BYTES + valueBytes.applyAsInt(value)))
        .evictionListener((key, value, cause) -> evictions.increment())
        .build();
  }

  /** The bytes of an array, rounded as the heap rounds them. */
  static int arrayBytes(int length, int elementBytes) {
    return ARRAY_HEADER_BYTES + ((length * elementBytes + 7) & ~7);
  }
}
