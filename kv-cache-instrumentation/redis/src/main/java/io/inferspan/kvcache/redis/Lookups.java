package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.layout.PodFields;
import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.inferspan.kvcache.redis.link.RedisIndexCounters;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.vertx.redis.client.Response;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The lookups on one connection. */
final class Lookups {

  private static final PodEntry[] NOBODY = {};

  private final RedisLink link;
  private final RedisIndexOptions options;
  private final RedisIndexCounters counters;
  private final PodFields fields;
  private final AtomicInteger pending = new AtomicInteger();
  private PodEntry[] scratch = new PodEntry[16];

  Lookups(RedisLink link, RedisIndexOptions options, RedisIndexCounters counters) {
    this.link = link;
    this.options = options;
    this.counters = counters;
    this.fields = new PodFields(counters.unreadable);
  }

  RedisLink link() {
    return link;
  }

  RedisIndexCounters counters() {
    return counters;
  }

  int pending() {
    return pending.get();
  }

  /** Starts a lookup on the link's event loop. Callable from any thread. */
  CompletionStage<BlockHits> begin(long[] keys, Set<String> pods, BlockHits into) {
    long begun = System.nanoTime();
    if (pending.addAndGet(keys.length) > options.link.maxPendingCommands()) {
      pending.addAndGet(-keys.length);
      counters.refused.increment();
      return failedNow(into, RedisLink.TOO_MANY);
    }
    Lookup lookup = new Lookup(this, RedisCommands.holders(keys), Set.copyOf(pods), into);
    if (!link.post(() -> begin(lookup, begun))) {
      pending.addAndGet(-keys.length);
      return failedNow(into, Writes.LOOPS_GONE);
    }
    // A copy, so that a caller that times out does not complete the lookup itself.
    return lookup.answer().minimalCompletionStage();
  }

  private CompletionStage<BlockHits> failedNow(BlockHits into, String reason) {
    counters.lookupFailures.increment();
    into.fail(reason);
    return CompletableFuture.completedStage(into);
  }

  private void begin(Lookup lookup, long begun) {
    long passed = (System.nanoTime() - begun) / 1_000_000;
    lookup.expireAfter(options.lookupTimeout.toMillis() - passed);
    link.startOrPark(lookup);
  }

  void settled(Lookup lookup) {
    pending.addAndGet(-lookup.commands());
  }

  /** Expects a late answer; if it does not arrive at all, the connection is given up. */
  void late(RedisLink.Sent sent) {
    long millis = options.writeTimeout.toMillis() - options.lookupTimeout.toMillis();
    link.expect(sent, Math.max(1, millis));
  }

  /** Returns the holders among these fields that belong to the requested pods. */
  PodEntry[] holders(Response of, Set<String> pods) {
    int size = of.size();
    if (scratch.length < size) {
      scratch = new PodEntry[size * 2];
    }
    int found = 0;
    for (int i = 0; i < size; i++) {
      @Nullable PodEntry holder = fields.read(of.get(i));
      if (holder != null && (pods.isEmpty() || pods.contains(holder.pod()))) {
        scratch[found++] = holder;
      }
    }
    return found == 0 ? NOBODY : Arrays.copyOf(scratch, found);
  }
}
