package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an index that may fail consistent with what the engines reported.
 *
 * <p>{@link PodBlocks} hold what the index should contain. While the index accepts writes, both
 * change together. After a failed write that pod is <em>behind</em>: its events change its blocks
 * here only, until the index has been cleared of the pod and rewritten. This is retried after 100
 * ms, later every 5 s. A first failure, or a lost connection, also makes all other pods
 * <em>suspect</em>, those of other workers too: a restarted index has lost their blocks although
 * none of their writes failed. A few of their blocks are looked up; if one is missing, the pod is
 * rewritten.
 *
 * <p>A pod that keeps failing does not keep the others from being repaired.
 *
 * <p>Data that the index loses while it stays connected is not noticed.
 */
final class IndexKeeper {

  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int BLOCKS_AT_ONCE = 512;

  private final BlockIndex index;
  private final IndexWrites writes;
  private final KvEventCounts counts;
  private final AtomicLong outages;
  private final int mostBlocks;
  private final Map<String, PodBlocks> pods = new HashMap<>();
  private long seenOutages;
  private boolean needy;

  /** True if the index as a whole failed, so that writes pause until the next attempt. */
  private boolean down;

  /** The number of failed attempts since the index was last available. */
  private int failedAttempts;

  private long retryNanos;

  /**
   * Creates a keeper for these pods' part of the index.
   *
   * @param outages the number of index outages, shared by all workers
   */
  IndexKeeper(BlockIndex index, KvEventOptions options, KvEventCounts counts, AtomicLong outages) {
    this.index = index;
    this.counts = counts;
    this.outages = outages;
    this.mostBlocks = options.maxBlocksPerPod();
    this.writes = new IndexWrites(index, options.writeTimeout().toMillis(), this::failed);
    this.seenOutages = knownOutages();
  }

  PodBlocks pod(String name) {
    PodBlocks pod = pods.computeIfAbsent(name, n -> new PodBlocks(n, mostBlocks));
    pod.leaving = false;
    return pod;
  }

  void add(PodBlocks pod, long[] hashes, long[] keys, List<PodEntry> holders, Context context) {
    if (writable(pod)) {
      writes.add(pod, hashes, keys, holders, context);
    }
  }

  void evict(PodBlocks pod, long hash, List<PodEntry> holders, Context context) {
    if (writable(pod)) {
      writes.evict(pod, hash, holders, context);
    }
  }

  /** Returns the key that an engine's hash maps to, from any pod's events; null if unknown. */
  @Nullable Long requestKey(PodBlocks pod, long hash) {
    return writable(pod) ? writes.requestKey(pod, hash) : null;
  }

  /** Removes a pod from all blocks, here now and in the index as soon as possible. */
  void clear(PodBlocks pod) {
    writes.settle();
    pod.clear();
    pod.whole = true;
    putBehind(pod);
    if (!down) {
      repair(pod);
    }
  }

  /** Removes a pod from all blocks, then forgets it. */
  void forget(String name) {
    PodBlocks pod = pod(name);
    pod.leaving = true;
    clear(pod);
  }

  /** Returns whether writes for the pod are useful now. */
  private boolean writable(PodBlocks pod) {
    if (down && !pod.behind) {
      // Each attempt would wait for the index's deadline, and delay all pods of this thread.
      putBehind(pod);
    }
    return !pod.behind;
  }

  private void putBehind(PodBlocks pod) {
    pod.behind = true;
    pod.toBeCleared = true;
    needy = true;
  }

  /**
   * Notes a write that failed.
   *
   * <p>The first failure of a pod may mean that the index is down. A pod that keeps failing while
   * others are repaired, because its entries are damaged for example, only pauses itself.
   */
  private void failed(PodBlocks pod) {
    counts.failedWrites.increment();
    putBehind(pod);
    if (down) {
      // This write was already under way when another one failed.
      return;
    }
    boolean first = pod.failures++ == 0;
    pod.retryNanos = System.nanoTime() + pauseNanos(pod.failures);
    if (first) {
      outage();
    }
  }

  private void outage() {
    if (down) {
      return;
    }
    down = true;
    if (failedAttempts++ == 0) {
      outages.incrementAndGet();
    }
    retryNanos = System.nanoTime() + pauseNanos(failedAttempts);
  }

  private static long pauseNanos(int failures) {
    return Math.min(LEAST_PAUSE_NANOS << Math.min(failures - 1, 10), MOST_PAUSE_NANOS);
  }

  /** Waits for pending writes, and repairs what can be repaired now. */
  void tend() {
    writes.settle();
    long known = knownOutages();
    if (known != seenOutages) {
      seenOutages = known;
      pods.values().forEach(pod -> pod.suspect = true);
      needy = true;
    }
    if (needy && (!down || System.nanoTime() - retryNanos >= 0)) {
      repairAll();
    }
  }

  /** Returns the number of outages that failed writes showed, plus lost connections. */
  private long knownOutages() {
    return outages.get() + index.losses();
  }

  /** Repairs the pods that are due, those that failed before last. */
  private void repairAll() {
    down = false;
    long began = System.nanoTime();
    List<PodBlocks> due =
        pods.values().stream()
            .filter(pod -> pod.needy() && pod.isDue(began))
            .sorted(Comparator.comparingInt(pod -> pod.failures))
            .toList();
    for (PodBlocks pod : due) {
      repair(pod);
      if (pod.failures > 0 && System.nanoTime() - began > LEAST_PAUSE_NANOS) {
        // Failures that take this long would delay the events of all pods of this thread.
        outage();
      }
      if (down) {
        break;
      }
    }
    pods.values().removeIf(pod -> pod.leaving && !pod.behind);
    needy = down || pods.values().stream().anyMatch(PodBlocks::needy);
    if (!down) {
      failedAttempts = 0;
    }
  }

  /** Repairs a pod as far as possible without waiting for a clearing. */
  private void repair(PodBlocks pod) {
    if (pod.toBeCleared && !cleared(pod)) {
      return;
    }
    if (pod.behind || lost(pod)) {
      rewrite(pod);
    }
    if (!pod.needy()) {
      pod.failures = 0;
    }
  }

  /** Clears the pod in the index; returns false while that is under way or if it failed. */
  private boolean cleared(PodBlocks pod) {
    CompletableFuture<?> clearing = pod.clearing;
    if (clearing == null) {
      clearing = writes.clear(pod);
      pod.clearing = clearing;
    }
    if (!clearing.isDone()) {
      // Clearing a large index takes long, and the pod is not written until it ends.
      return false;
    }
    pod.clearing = null;
    if (!writes.done(clearing)) {
      failed(pod);
      return false;
    }
    pod.toBeCleared = false;
    return true;
  }

  /** Returns whether some of a sample of the pod's blocks are missing from the index. */
  private boolean lost(PodBlocks pod) {
    List<Long> sample = new ArrayList<>();
    List<PodBlocks.Tier> tiers = pod.sample(sample);
    long[] keys = sample.stream().mapToLong(Long::longValue).toArray();
    CompletableFuture<BlockHits> asked =
        IndexWrites.started(
            () -> index.lookup(keys, Set.of(pod.pod), new BlockHits(), Context.root()));
    if (!writes.done(asked) || asked.join().failure() != null) {
      failed(pod);
      return false;
    }
    pod.suspect = false;
    BlockHits found = asked.join();
    for (int i = 0; i < keys.length; i++) {
      if (!Arrays.asList(found.at(i)).containsAll(tiers.get(i).holders())) {
        return true;
      }
    }
    return false;
  }

  /** Writes all blocks of the pod. */
  private void rewrite(PodBlocks pod) {
    pod.behind = false;
    pod.suspect = false;
    boolean any = false;
    for (PodBlocks.Tier tier : pod.tiers()) {
      any |= tier.blocks().size() > 0;
      rewrite(pod, tier);
    }
    writes.settle();
    if (any) {
      counts.rewrites.increment();
    }
  }

  private void rewrite(PodBlocks pod, PodBlocks.Tier tier) {
    CountedBlocks blocks = tier.blocks();
    long[] hashes = new long[BLOCKS_AT_ONCE];
    long[] keys = new long[BLOCKS_AT_ONCE];
    int size = 0;
    for (int slot = 0; slot < blocks.slots() && !pod.behind; slot++) {
      if (!blocks.taken(slot)) {
        continue;
      }
      long[] wide = blocks.wideKeys(slot);
      if (wide != null) {
        add(pod, new long[] {blocks.hash(slot)}, wide, tier.holders(), Context.root());
        continue;
      }
      hashes[size] = blocks.hash(slot);
      keys[size++] = blocks.lastKey(slot);
      if (size == BLOCKS_AT_ONCE) {
        add(pod, hashes.clone(), keys.clone(), tier.holders(), Context.root());
        size = 0;
      }
    }
    if (size > 0) {
      add(
          pod,
          Arrays.copyOf(hashes, size),
          Arrays.copyOf(keys, size),
          tier.holders(),
          Context.root());
    }
  }
}
