package io.inferspan.kvcache.redis;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Meters that show whether the Redis of an index answers. */
public final class RedisMeters {

  private static final String PREFIX = "inferspan.kvcache.redis.";
  private static final String INDEX = "index";

  private RedisMeters() {}

  /**
   * Registers the meters.
   *
   * @param name distinguishes this index from others in the process, such as {@code redis}
   */
  public static void register(MeterRegistry registry, RedisBlockIndex index, String name) {
    RedisIndexCounts counts = index.counts();
    Gauge.builder(PREFIX + "commands.pending", index, RedisBlockIndex::pendingCommands)
        .description("Commands that wait for Redis")
        .tag(INDEX, name)
        .register(registry);
    for (RedisIndexCount count : RedisIndexCount.values()) {
      FunctionCounter.builder(PREFIX + count.meter, counts, all -> all.get(count))
          .description(count.description)
          .tag(INDEX, name)
          .register(registry);
    }
  }
}
