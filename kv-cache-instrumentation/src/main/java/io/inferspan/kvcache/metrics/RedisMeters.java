package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.redis.RedisBlockIndex;
import io.inferspan.kvcache.index.redis.RedisIndexCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToLongFunction;

/** The meters of one index in Redis: whether Redis answers. */
final class RedisMeters {

  private static final String PREFIX = "inferspan.kvcache.redis.";

  private final MeterRegistry registry;
  private final RedisBlockIndex index;
  private final String name;

  RedisMeters(MeterRegistry registry, RedisBlockIndex index, String name) {
    this.registry = registry;
    this.index = index;
    this.name = name;
  }

  void register() {
    count("lookups", "Lookups asked for", RedisIndexCounts::lookups);
    count("lookup.timeouts", "Lookups without an answer in time", RedisIndexCounts::lookupTimeouts);
    count("lookup.failures", "Lookups that failed otherwise", RedisIndexCounts::lookupFailures);
    count("writes", "Writes asked for", RedisIndexCounts::writes);
    count(
        "write.failures", "Writes that are not known to be made", RedisIndexCounts::writeFailures);
    count("refused", "Calls for which too many others waited", RedisIndexCounts::refused);
    count("connects", "Connections made", RedisIndexCounts::connects);
    count(
        "connect.failures", "Connections that could not be made", RedisIndexCounts::failedConnects);
    count("connections.lost", "Connections lost", RedisIndexCounts::lostConnections);
    count(
        "unreadable.fields", "Fields of others not understood", RedisIndexCounts::unreadableFields);
    Gauge.builder(PREFIX + "commands.pending", index, all -> all.counts().pendingCommands())
        .description("Commands that wait for Redis")
        .tag(KvCacheMeters.INDEX, name)
        .register(registry);
  }

  private void count(String what, String description, ToLongFunction<RedisIndexCounts> count) {
    FunctionCounter.builder(PREFIX + what, index, all -> count.applyAsLong(all.counts()))
        .description(description)
        .tag(KvCacheMeters.INDEX, name)
        .register(registry);
  }
}
