package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** A simple, correct index that can be made to fail, to wait, and to forget. */
final class FakeBlockIndex implements BlockIndex {

  private static final PodEntry[] NO_PODS = {};

  private final Map<Long, Set<PodEntry>> blocks = new HashMap<>();
  private final Map<Long, List<Long>> engine = new HashMap<>();
  private final List<String> writes = new ArrayList<>();
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

  /** Loses everything, as a restarted server does. */
  synchronized void forget() {
    blocks.clear();
    engine.clear();
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
    Set<Long> keys = new TreeSet<>();
    blocks.forEach(
        (key, holders) -> {
          if (holders.stream().anyMatch(h -> h.pod().equals(pod) && h.tier().equals(tier))) {
            keys.add(key);
          }
        });
    return keys;
  }

  synchronized Set<Long> held(String pod) {
    return held(pod, "gpu");
  }

  /** The writes so far, in words. */
  synchronized List<String> writes() {
    return List.copyOf(writes);
  }

  private <T> CompletionStage<T> answer(Supplier<T> call) {
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
      return CompletableFuture.completedFuture(call.get());
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
      for (int i = 0; i < keys.length; i++) {
        Set<PodEntry> holders = blocks.getOrDefault(keys[i], Set.of());
        into.set(
            i,
            holders.stream()
                .filter(h -> pods.isEmpty() || pods.contains(h.pod()))
                .toList()
                .toArray(NO_PODS));
      }
      return CompletableFuture.completedFuture(into);
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
          for (long key : requestKeys) {
            blocks.computeIfAbsent(key, k -> new LinkedHashSet<>()).addAll(holders);
          }
          int most = Math.max(engineKeys.length, requestKeys.length);
          Set<Long> begun = new TreeSet<>();
          for (int i = 0; engineKeys.length > 0 && i < most; i++) {
            long hash = engineKeys[i * engineKeys.length / most];
            if (begun.add(hash)) {
              engine.put(hash, new ArrayList<>());
            }
            engine.getOrDefault(hash, List.of()).add(requestKeys[i * requestKeys.length / most]);
          }
          return null;
        });
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return answer(
        () -> {
          writes.add("evict");
          List<Long> keys =
              type == KeyType.REQUEST ? List.of(key) : engine.getOrDefault(key, List.of());
          boolean empty = true;
          for (long each : keys) {
            Set<PodEntry> left = blocks.getOrDefault(each, new LinkedHashSet<>());
            left.removeAll(holders);
            empty &= left.isEmpty();
          }
          if (empty && type == KeyType.ENGINE) {
            engine.remove(key);
          }
          return null;
        });
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return answer(
        () -> {
          List<Long> keys = engine.getOrDefault(engineKey, List.of());
          return keys.isEmpty() ? OptionalLong.empty() : OptionalLong.of(keys.get(keys.size() - 1));
        });
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    if (isBroken(pod)) {
      return CompletableFuture.failedFuture(new IllegalStateException("broken"));
    }
    return answer(
        () -> {
          writes.add("clear " + pod);
          blocks.values().forEach(holders -> holders.removeIf(h -> h.pod().equals(pod)));
          return null;
        });
  }

  @Override
  public void close() {}
}
