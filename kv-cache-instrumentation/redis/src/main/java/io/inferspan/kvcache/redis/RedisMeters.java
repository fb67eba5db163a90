package io.inferspan.kvcache.redis;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToLongFunction;

/** Meters that show whether the Redis of an index answers. */
public final class RedisMeters {

  private static final String PREFIX = "inferspan.kvcache.redis.";
  private static final String INDEX = "index";

  private final MeterRegistry registry;
  private final RedisBlockIndex index;
  private final String name;

  private RedisMeters(MeterRegistry registry, RedisBlockIndex index, String name) {
    this.registry = registry;
    this.index = index;
    this.name = name;
  }

  /**
   * Registers the meters.
   *
   * @param name distinguishes this index from others in the process, such as {@code redis}
   */
  public static void register(MeterRegistry registry, RedisBlockIndex index, String name) {
    new RedisMeters(registry, index, name).register();
  }

  private void register() {
    count("lookups", "Lookups", RedisIndexCounts::lookups);
    count("lookup.timeouts", "Lookups without an answer in time", RedisIndexCounts::lookupTimeouts);
    count("lookup.failures", "Lookups that failed otherwise", RedisIndexCounts::lookupFailures);
    count("writes", "Writes", RedisIndexCounts::writes);
    count("write.failures", "Writes that failed, or may have", RedisIndexCounts::writeFailures);
    count("refused", "Calls refused because too many were pending", RedisIndexCounts::refused);
    count("connects", "Connections made", RedisIndexCounts::connects);
    count(
        "connect.failures", "Connections that could not be made", RedisIndexCounts::failedConnects);
    count("connections.lost", "Connections lost", RedisIndexCounts::lostConnections);
    count(
        "unreadable.fields",
        "Fields from other writers that cannot be read",
        RedisIndexCounts::unreadableFields);
    Gauge.builder(PREFIX + "commands.pending", index, all -> all.counts().pendingCommands())
        .description("Commands waiting for Redis")
        .tag(INDEX, name)
        .register(registry);
  }

  private void count(String what, String description, ToLongFunction<RedisIndexCounts> count) {
    FunctionCounter.builder(PREFIX + what, index, all -> count.applyAsLong(all.counts()))
        .description(description)
        .tag(INDEX, name)
        .register(registry);
  }
}
