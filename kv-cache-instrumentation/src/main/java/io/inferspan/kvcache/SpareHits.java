package io.inferspan.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Buffers between two lookups, a bounded number of them.
 *
 * <p>Where there is none a new one is made, and one too many is left to the collector, so nobody
 * waits. A buffer comes here only when its lookup is over; before that the index may write to it.
 */
final class SpareHits {

  /** So many buffers wait at most. */
  static final int MAX_SPARE = 16;

  /** A buffer that was used for more keys than this is not kept: 256 KiB at 4 bytes a key. */
  static final int MAX_KEYS_KEPT = 65_536;

  private final AtomicReferenceArray<@Nullable BlockHits> spare =
      new AtomicReferenceArray<>(MAX_SPARE);

  BlockHits take() {
    for (int i = 0; i < MAX_SPARE; i++) {
      if (spare.getPlain(i) != null) {
        BlockHits hits = spare.getAndSet(i, null);
        if (hits != null) {
          return hits;
        }
      }
    }
    return new BlockHits();
  }

  void giveBack(BlockHits hits) {
    if (hits.size() > MAX_KEYS_KEPT) {
      return;
    }
    for (int i = 0; i < MAX_SPARE; i++) {
      if (spare.getPlain(i) == null && spare.compareAndSet(i, null, hits)) {
        return;
      }
    }
  }
}
