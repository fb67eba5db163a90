package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.layout.PodFields;
import io.inferspan.kvcache.redis.link.Outage;
import io.inferspan.kvcache.redis.link.RedisClients;
import io.inferspan.kvcache.redis.link.RedisIndexCounters;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.opentelemetry.context.Context;
import io.vertx.core.Closeable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * A block index in Redis or Valkey, shared with other components that use llm-d's layout.
 *
 * <p>All work runs on Vert.x event loops. A lookup ends at its timeout and reports it in the hits;
 * it fails at once while Redis is known to be unreachable. A lookup stops at the first block that
 * none of the requested pods holds, as llm-d's Redis index does. Stages complete on an event loop,
 * so dependent stages must not block.
 *
 * <p>Changes to one pod are applied in the order in which one thread requests them. A failed change
 * may have been applied. {@link #requestKey} fails if Redis does not answer, so that a failure is
 * not mistaken for an unknown hash.
 */
public final class RedisBlockIndex implements BlockIndex {

  private final VertxInternal vertx;
  private final boolean ownVertx;
  private final RedisIndexCounters counters = new RedisIndexCounters();
  private final Lookups[] lookups;
  private final Writes writes;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Closeable closeHook;

  private RedisBlockIndex(Vertx vertx, boolean ownVertx, RedisIndexOptions options) {
    this.vertx = (VertxInternal) vertx;
    this.ownVertx = ownVertx;
    RedisClients clients = new RedisClients(vertx, options.link);
    RedisLink.Watchers watchers =
        new RedisLink.Watchers(counters, new Outage(options.link.toString()));
    long writeMillis = options.writeTimeout.toMillis();
    RedisLink.Patience writing = new RedisLink.Patience(true, writeMillis);
    RedisLink.Patience looking =
        new RedisLink.Patience(false, Math.max(writeMillis, options.lookupTimeout.toMillis()));
    this.writes = new Writes(link(clients, watchers, writing), options, counters);
    this.lookups = new Lookups[options.lookupConnections];
    for (int i = 0; i < lookups.length; i++) {
      lookups[i] = new Lookups(link(clients, watchers, looking), options, counters);
    }
    this.closeHook = done -> shut().onComplete(ended -> done.succeed());
  }

  /** Opens an index with its own event loops and connects in the background. */
  public static RedisBlockIndex open(RedisIndexOptions options) {
    VertxOptions own =
        new VertxOptions()
            .setEventLoopPoolSize(options.lookupConnections + 1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setPreferNativeTransport(true);
    return open(Vertx.vertx(own), true, options);
  }

  /** Opens an index on the event loops of {@code vertx} and connects in the background. */
  public static RedisBlockIndex open(RedisIndexOptions options, Vertx vertx) {
    return open(vertx, false, options);
  }

  private static RedisBlockIndex open(Vertx vertx, boolean ownVertx, RedisIndexOptions options) {
    PodFields.warmUp();
    RedisBlockIndex index = new RedisBlockIndex(vertx, ownVertx, options);
    index.vertx.addCloseHook(index.closeHook);
    index.eachLink(link -> link.post(link::connect));
    return index;
  }

  private RedisLink link(
      RedisClients clients, RedisLink.Watchers watchers, RedisLink.Patience patience) {
    return new RedisLink(vertx.createEventLoopContext(), clients, watchers, patience);
  }

  private void eachLink(Consumer<RedisLink> action) {
    action.accept(writes.link());
    for (Lookups each : lookups) {
      action.accept(each.link());
    }
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    counters.lookups.increment();
    if (keys.length == 0) {
      return CompletableFuture.completedStage(into);
    }
    return connection().begin(keys, pods, into);
  }

  /** Returns the next connection, round-robin. */
  private Lookups connection() {
    int turn = next.getAndIncrement();
    for (int i = 0; i < lookups.length; i++) {
      Lookups candidate = lookups[Math.floorMod(turn + i, lookups.length)];
      if (candidate.link().isUp()) {
        return candidate;
      }
    }
    return lookups[Math.floorMod(turn, lookups.length)];
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    if (requestKeys.length == 0) {
      return CompletableFuture.completedStage(null);
    }
    long[] engines = engineKeys.clone();
    long[] blocks = requestKeys.clone();
    return eachPod(holders, (pod, fields) -> writes.add(pod, fields, engines, blocks));
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return eachPod(holders, (pod, fields) -> writes.evict(pod, fields, key, type));
  }

  /** Makes one change per pod, since order is kept per pod; usually there is one pod. */
  private CompletionStage<Void> eachPod(
      List<PodEntry> holders, BiFunction<String, List<byte[]>, CompletionStage<Void>> change) {
    Map<String, List<byte[]>> byPod = new LinkedHashMap<>();
    for (PodEntry holder : holders) {
      byPod.computeIfAbsent(holder.pod(), pod -> new ArrayList<>()).add(PodFields.bytesOf(holder));
    }
    CompletionStage<Void> all = CompletableFuture.completedStage(null);
    for (Map.Entry<String, List<byte[]>> each : byPod.entrySet()) {
      CompletionStage<Void> made = change.apply(each.getKey(), each.getValue());
      all = byPod.size() == 1 ? made : all.thenCombine(made, (one, other) -> null);
    }
    return all;
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return writes.requestKey(engineKey);
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return writes.clear(pod);
  }

  @Override
  public long losses() {
    return counters.lostConnections.sum();
  }

  /** Returns the operation and failure counts so far. */
  public RedisIndexCounts counts() {
    long pending = writes.link().pending();
    for (Lookups each : lookups) {
      pending += each.link().pending();
    }
    return RedisIndexCounts.of(counters, pending);
  }

  /** Closes the connections, and the event loops if the index created them, without waiting. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    vertx.removeCloseHook(closeHook);
    Future<?> shut = shut();
    if (ownVertx) {
      shut.onComplete(ended -> vertx.close());
    }
  }

  private Future<?> shut() {
    List<Future<?>> ends = new ArrayList<>();
    eachLink(
        link -> {
          Promise<Object> end = Promise.promise();
          if (link.post(() -> link.close().onComplete(closed -> end.complete()))) {
            ends.add(end.future());
          }
        });
    return Future.join(ends);
  }
}
