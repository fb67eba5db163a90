package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** Meters of the KV-cache index; all names begin with {@code inferspan.kvcache}. */
public final class KvCacheMeters {

  static final String INDEX = "index";

  private final MeterRegistry registry;

  private KvCacheMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Creates meters in this registry. */
  public static KvCacheMeters in(MeterRegistry registry) {
    return new KvCacheMeters(registry);
  }

  /**
   * Wraps an index to time its lookups and count its writes.
   *
   * @param name distinguishes this index from others in the process, such as {@code memory}
   */
  public BlockIndex metered(BlockIndex index, String name) {
    return new MeteredBlockIndex(index, registry, name);
  }

  /**
   * Registers the number of blocks in an in-memory index, and the number of its evictions.
   *
   * @param name distinguishes this index from others in the process
   */
  public KvCacheMeters size(MemoryBlockIndex index, String name) {
    Gauge.builder("inferspan.kvcache.index.size", index, MemoryBlockIndex::size)
        .description("Blocks in the index")
        .baseUnit("blocks")
        .tag(INDEX, name)
        .register(registry);
    evicted(index, name, "block", MemoryBlockIndex::evictions);
    evicted(index, name, "engine_hash", MemoryBlockIndex::engineEvictions);
    evicted(index, name, "holder", MemoryBlockIndex::displacedHolders);
    return this;
  }

  private void evicted(
      MemoryBlockIndex index, String name, String what, ToDoubleFunction<MemoryBlockIndex> count) {
    FunctionCounter.builder("inferspan.kvcache.index.evictions", index, count)
        .description("Evictions caused by a limit of the index")
        .tag(INDEX, name)
        .tag("what", what)
        .register(registry);
  }
}
