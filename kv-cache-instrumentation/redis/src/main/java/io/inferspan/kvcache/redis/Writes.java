package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.RedisIndexCounters;
import io.inferspan.kvcache.redis.link.RedisLink;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** The changes on one connection, in order for each pod. */
final class Writes {

  static final String LOOPS_GONE = "the event loops of the index are gone";

  private static final String ALL_PODS = "";

  private final RedisLink link;
  private final RedisIndexOptions options;
  private final RedisIndexCounters counters;
  private final Map<String, PodLane> lanes = new HashMap<>();
  private final AtomicInteger pending = new AtomicInteger();

  Writes(RedisLink link, RedisIndexOptions options, RedisIndexCounters counters) {
    this.link = link;
    this.options = options;
    this.counters = counters;
  }

  RedisLink link() {
    return link;
  }

  RedisIndexCounters counters() {
    return counters;
  }

  long timeoutMillis() {
    return options.writeTimeout.toMillis();
  }

  int pending() {
    return pending.get();
  }

  /** Starts a change on the link's event loop. Callable from any thread. */
  CompletionStage<Void> begin(Write write) {
    counters.writes.increment();
    if (pending.addAndGet(write.commands()) > options.link.maxPendingCommands()) {
      pending.addAndGet(-write.commands());
      counters.refused.increment();
      return failedNow(RedisLink.TOO_MANY);
    }
    if (!link.post(() -> lane(write).take(write))) {
      pending.addAndGet(-write.commands());
      return failedNow(LOOPS_GONE);
    }
    return write.made().minimalCompletionStage();
  }

  private CompletionStage<Void> failedNow(String reason) {
    counters.writeFailures.increment();
    return CompletableFuture.failedStage(new RedisFailure(reason));
  }

  /** Queries on the connection of the writes, so that the answer includes completed writes. */
  CompletionStage<OptionalLong> ask(long engineKey) {
    KeyQuery query = new KeyQuery(this, engineKey);
    if (pending.incrementAndGet() > options.link.maxPendingCommands()) {
      pending.decrementAndGet();
      counters.refused.increment();
      return CompletableFuture.failedStage(new RedisFailure(RedisLink.TOO_MANY));
    }
    if (!link.post(() -> begin(query))) {
      pending.decrementAndGet();
      return CompletableFuture.failedStage(new RedisFailure(LOOPS_GONE));
    }
    return query.answer().minimalCompletionStage();
  }

  private void begin(KeyQuery query) {
    query.expireAfter(timeoutMillis());
    link.startOrPark(query);
  }

  void answered() {
    pending.decrementAndGet();
    link.dropOver();
  }

  private PodLane lane(Write write) {
    return lanes.computeIfAbsent(laneOf(write), ignored -> new PodLane());
  }

  /**
   * In a cluster all pods share a lane. Between checking whether any pod holds a hash's blocks and
   * dropping the hash, no other pod's addition may run.
   */
  private String laneOf(Write write) {
    return link.clustered() ? ALL_PODS : write.pod();
  }

  /** Removes a lane that has no work left. */
  void leave(Write write, PodLane lane) {
    lanes.remove(laneOf(write), lane);
  }

  void settled(Write write) {
    pending.addAndGet(-write.commands());
    link.dropOver();
  }
}
