package io.inferspan.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A bounded pool of lookup buffers.
 *
 * <p>An empty pool creates a new buffer and a full one leaves the buffer to the collector, so
 * callers never wait. A buffer is returned only after its lookup has ended; before that the index
 * may write to it.
 */
final class SpareHits {

  /** The maximum number of pooled buffers. */
  static final int MAX_SPARE = 16;

  /** Larger buffers are not pooled: 256 KiB at 4 bytes a key. */
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
