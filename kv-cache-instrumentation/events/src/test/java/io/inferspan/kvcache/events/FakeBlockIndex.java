package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** An index in memory that can be made to fail, to wait, and to forget. */
final class FakeBlockIndex implements BlockIndex {

  private final List<String> writes = new ArrayList<>();
  private final Set<Long> added = new TreeSet<>();
  private MemoryBlockIndex blocks = empty();
  private boolean down;
  private boolean full;
  private boolean silent;
  private Set<String> broken = Set.of();
  private int lookups;
  private CountDownLatch gate = new CountDownLatch(0);
  private long losses;

  synchronized void down(boolean isDown) {
    down = isDown;
  }

  /** Lets additions fail and all else succeed, as a Redis does that has no memory left. */
  synchronized void full(boolean isFull) {
    full = isFull;
  }

  /** Lets all writes for these pods fail, as a Redis does whose keys for them have another type. */
  synchronized void broken(Set<String> pods) {
    broken = pods;
  }

  synchronized boolean isBroken(String pod) {
    return broken.contains(pod);
  }

  /** Returns the number of lookups. */
  synchronized int lookups() {
    return lookups;
  }

  /** Lets calls neither succeed nor fail. */
  synchronized void silent(boolean isSilent) {
    silent = isSilent;
  }

  /** Lets writes wait on the caller's thread until the latch is open. */
  synchronized void gate(CountDownLatch latch) {
    gate = latch;
  }

  private static MemoryBlockIndex empty() {
    return MemoryBlockIndex.builder().podCacheSize(Short.MAX_VALUE).build();
  }

  /** Loses everything, as a restarted server does. */
  synchronized void forget() {
    blocks.close();
    blocks = empty();
  }

  synchronized void loseTouch() {
    losses++;
  }

  @Override
  public synchronized long losses() {
    return losses;
  }

  /** Returns the blocks that a pod holds in a tier. */
  synchronized Set<Long> held(String pod, String tier) {
    BlockHits hits = new BlockHits();
    long[] keys = added.stream().mapToLong(Long::longValue).toArray();
    blocks.lookup(keys, Set.of(pod), hits, Context.root());
    Set<Long> held = new TreeSet<>();
    for (int i = 0; i < keys.length; i++) {
      if (Stream.of(hits.at(i)).anyMatch(holder -> holder.tier().equals(tier))) {
        held.add(keys[i]);
      }
    }
    return held;
  }

  synchronized Set<Long> held(String pod) {
    return held(pod, "gpu");
  }

  /** The writes so far, in words. */
  synchronized List<String> writes() {
    return List.copyOf(writes);
  }

  private <T> CompletionStage<T> answer(Supplier<CompletionStage<T>> call) {
    CountDownLatch latch;
    synchronized (this) {
      latch = gate;
    }
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (this) {
      if (silent) {
        return new CompletableFuture<>();
      }
      if (down) {
        return CompletableFuture.failedFuture(new IllegalStateException("down"));
      }
      return call.get();
    }
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    synchronized (this) {
      lookups++;
      if (down || silent) {
        into.fail("down");
        return CompletableFuture.completedFuture(into);
      }
      return blocks.lookup(keys, pods, into, context);
    }
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    synchronized (this) {
      if (full || holders.stream().anyMatch(holder -> isBroken(holder.pod()))) {
        return CompletableFuture.failedFuture(new IllegalStateException("full"));
      }
    }
    return answer(
        () -> {
          writes.add("add");
          Arrays.stream(requestKeys).forEach(added::add);
          return blocks.add(engineKeys, requestKeys, holders, context);
        });
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return answer(
        () -> {
          writes.add("evict");
          return blocks.evict(key, type, holders, context);
        });
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return answer(() -> blocks.requestKey(engineKey));
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    if (isBroken(pod)) {
      return CompletableFuture.failedFuture(new IllegalStateException("broken"));
    }
    return answer(
        () -> {
          writes.add("clear " + pod);
          return blocks.clear(pod);
        });
  }

  @Override
  public void close() {
    blocks.close();
  }
}
