package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
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
 * <p>All work runs on Vert.x event loops. A lookup that times out reports this in {@link
 * BlockHits#failure()}. While Redis is known to be unreachable, lookups fail at once. A lookup
 * stops at the first block that none of the requested pods holds, as llm-d's Redis index does.
 * Stages complete on an event loop, so dependent stages must not block.
 *
 * <p>Changes to one pod are applied in the order in which one thread requests them. A failed change
 * may have been applied. {@link #requestKey} fails if Redis does not answer, so that a failure is
 * not mistaken for an unknown hash.
 */
public final class RedisBlockIndex implements BlockIndex {

  private final VertxInternal vertx;
  private final boolean ownVertx;
  private final RedisIndexOptions options;
  private final RedisIndexCounts counts = new RedisIndexCounts();
  private final RedisLink.Outage outage;
  private final List<RedisLink> lookups = new ArrayList<>();
  private final Writes writes;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Closeable closeHook;

  private RedisBlockIndex(Vertx vertx, boolean ownVertx, RedisIndexOptions options) {
    this.vertx = (VertxInternal) vertx;
    this.ownVertx = ownVertx;
    this.options = options;
    this.outage = new RedisLink.Outage(options.address, new AtomicBoolean());
    this.writes = new Writes(link(true), options.writeTimeout.toMillis());
    for (int i = 0; i < options.lookupConnections; i++) {
      lookups.add(link(false));
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

  private RedisLink link(boolean waits) {
    return new RedisLink(vertx.createEventLoopContext(), options, counts, outage, waits);
  }

  private void eachLink(Consumer<RedisLink> action) {
    action.accept(writes.link);
    lookups.forEach(action);
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    counts.increment(RedisIndexCount.LOOKUPS);
    if (keys.length == 0) {
      return CompletableFuture.completedStage(into);
    }
    return new Lookup(connection(), keys, pods, into).begin(options.lookupTimeout.toMillis());
  }

  /** Returns the next connection, round-robin; skips those that are down, unless all are. */
  private RedisLink connection() {
    int turn = next.getAndIncrement();
    for (int i = 0; i < lookups.size(); i++) {
      RedisLink candidate = lookups.get(Math.floorMod(turn + i, lookups.size()));
      if (candidate.isUp()) {
        return candidate;
      }
    }
    return lookups.get(Math.floorMod(turn, lookups.size()));
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
    return counts.get(RedisIndexCount.LOST_CONNECTIONS);
  }

  /** Returns the running counts of operations and failures. */
  public RedisIndexCounts counts() {
    return counts;
  }

  /** Returns how many commands wait for Redis now. */
  public long pendingCommands() {
    return writes.link.pending() + lookups.stream().mapToLong(RedisLink::pending).sum();
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
