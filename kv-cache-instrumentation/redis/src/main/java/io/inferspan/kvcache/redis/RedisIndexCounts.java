package io.inferspan.kvcache.redis;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The running counts of a Redis index. */
public final class RedisIndexCounts {

  private final Map<RedisIndexCount, LongAdder> counts = new ConcurrentHashMap<>();

  RedisIndexCounts() {}

  void increment(RedisIndexCount count) {
    counts.computeIfAbsent(count, first -> new LongAdder()).increment();
  }

  /** Returns a count since the index was opened. */
  public long get(RedisIndexCount count) {
    LongAdder adder = counts.get(count);
    return adder == null ? 0 : adder.sum();
  }

  /** Returns the counts that are not zero. */
  @Override
  public String toString() {
    return counts.toString();
  }
}
