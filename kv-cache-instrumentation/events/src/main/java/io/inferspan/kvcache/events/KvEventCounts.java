package io.inferspan.kvcache.events;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of processed events, for meters.
 *
 * <p>Every batch that a publisher numbered since the subscriber joined is counted either in {@link
 * KvEventCount#BATCHES} or in {@link KvEventCount#MISSED_BATCHES}; missed batches that a replay
 * delivered are also counted in {@link KvEventCount#REPLAYED_BATCHES}. Replayed batches that are
 * older than the subscription, or that were applied before, are counted only in {@code
 * REPLAYED_BATCHES}.
 */
public final class KvEventCounts {

  private final Map<Enum<?>, LongAdder> counts = new ConcurrentHashMap<>();
  private volatile double lagSeconds = Double.NaN;

  KvEventCounts() {}

  void add(KvEventCount count, long more) {
    adder(count).add(more);
  }

  void increment(KvEventCount count) {
    adder(count).increment();
  }

  void skip(SkipReason reason) {
    adder(reason).increment();
  }

  private LongAdder adder(Enum<?> count) {
    return counts.computeIfAbsent(count, first -> new LongAdder());
  }

  private long sum(Enum<?> count) {
    LongAdder adder = counts.get(count);
    return adder == null ? 0 : adder.sum();
  }

  void received(double epochSeconds, long nowMillis) {
    lagSeconds = Math.max(0, nowMillis / 1e3 - epochSeconds);
  }

  /** Returns a count since the subscriber started. */
  public long get(KvEventCount count) {
    return sum(count);
  }

  /**
   * Returns the number of events that were not applied, or only to some of their blocks, for this
   * reason.
   */
  public long skipped(SkipReason reason) {
    return sum(reason);
  }

  /**
   * Returns the age in seconds of the newest batch when it entered the index; NaN before the first
   * batch.
   */
  public double lagSeconds() {
    return lagSeconds;
  }

  /** Returns the counts that are not zero. */
  @Override
  public String toString() {
    return counts.toString();
  }
}
