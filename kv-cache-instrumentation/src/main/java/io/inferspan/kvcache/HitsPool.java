package io.inferspan.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A bounded pool of lookup buffers.
 *
 * <p>An empty pool creates a new buffer, and a full one leaves the buffer to the garbage collector,
 * so callers never wait. Release a buffer only after its lookup has ended: until then, the index
 * may write to it.
 */
final class HitsPool {

  /** The maximum number of pooled buffers. */
  static final int MAX_POOLED = 16;

  /** The size above which buffers are not pooled: 256 KiB, at 4 bytes per key. */
  static final int MAX_POOLED_KEYS = 65_536;

  private final AtomicReferenceArray<@Nullable BlockHits> pooled =
      new AtomicReferenceArray<>(MAX_POOLED);

  BlockHits acquire() {
    for (int i = 0; i < MAX_POOLED; i++) {
      if (pooled.getPlain(i) != null) {
        BlockHits hits = pooled.getAndSet(i, null);
        if (hits != null) {
          return hits;
        }
      }
    }
    return new BlockHits();
  }

  void release(BlockHits hits) {
    if (hits.size() > MAX_POOLED_KEYS) {
      return;
    }
    for (int i = 0; i < MAX_POOLED; i++) {
      if (pooled.getPlain(i) == null && pooled.compareAndSet(i, null, hits)) {
        return;
      }
    }
  }
}
