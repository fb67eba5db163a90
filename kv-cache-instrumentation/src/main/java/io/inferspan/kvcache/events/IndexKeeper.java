package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an index true that may fail.
 *
 * <p>The ledgers know what the index should say. While the index takes writes, both change
 * together. Once it did not take one, that pod is <em>behind</em>: its events change the ledger
 * only, until the index could be cleared of the pod and written anew from the ledger; it is tried
 * again after 100 ms, and later every 5 s, until all is well. When that begins, all other pods are
 * <em>suspect</em>, those of other workers too, and all are when the index says that it lost touch:
 * an index that was restarted has lost what it knew of them, and no write of theirs failed. A few
 * of their blocks are looked up, and where one is missing, all are written again.
 *
 * <p>What this cannot see is an index that loses data and no connection.
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

  /** Whether something failed since all was well last. */
  private boolean failing;

  /** Whether it failed just now, so that nothing is asked of the index before the next try. */
  private boolean down;

  private long pauseNanos = LEAST_PAUSE_NANOS;
  private long retryNanos;

  /**
   * Keeps these pods' part of the index.
   *
   * @param outages how often the index failed, for all workers
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

  /** The key that an engine's hash stands for, by anyone's events; null where it is unknown. */
  @Nullable Long requestKey(PodBlocks pod, long hash) {
    return writable(pod) ? writes.requestKey(pod, hash) : null;
  }

  /** Takes a pod from all blocks, in the ledger now and in the index as soon as it can. */
  void clear(PodBlocks pod) {
    writes.settle();
    pod.ledger.clear();
    pod.whole = true;
    putBehind(pod);
    if (!down) {
      repair(pod);
    }
  }

  /** Takes a pod from all blocks, and forgets it then. */
  void forget(String name) {
    PodBlocks pod = pod(name);
    pod.leaving = true;
    clear(pod);
  }

  /** Whether writes for the pod are of use now. */
  private boolean writable(PodBlocks pod) {
    if (down && !pod.behind) {
      // Each try would wait for the index's deadline, and all pods of this thread with it.
      putBehind(pod);
    }
    return !pod.behind;
  }

  private void putBehind(PodBlocks pod) {
    pod.behind = true;
    pod.toBeCleared = true;
    needy = true;
  }

  private void failed(PodBlocks pod) {
    counts.failedWrites.increment();
    putBehind(pod);
    if (down) {
      // It was under way when another one failed; how many were says nothing of the index.
      return;
    }
    down = true;
    if (!failing) {
      failing = true;
      outages.incrementAndGet();
    }
    retryNanos = System.nanoTime() + pauseNanos;
    pauseNanos = Math.min(pauseNanos * 2, MOST_PAUSE_NANOS);
  }

  /** Waits for what is under way, and repairs what can be repaired now. */
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

  /** Those that writes failed in, and those that no write was under way in. */
  private long knownOutages() {
    return outages.get() + index.losses();
  }

  private void repairAll() {
    boolean left = false;
    down = false;
    Iterator<PodBlocks> all = pods.values().iterator();
    while (all.hasNext() && !down) {
      PodBlocks pod = all.next();
      if (pod.needy()) {
        repair(pod);
      }
      if (pod.leaving && !pod.behind) {
        all.remove();
      }
      left |= pod.needy();
    }
    needy = left || down;
    if (!needy) {
      failing = false;
      pauseNanos = LEAST_PAUSE_NANOS;
    }
  }

  /** Does what can be done for a pod without waiting for a clearing. */
  private void repair(PodBlocks pod) {
    if (pod.toBeCleared && !cleared(pod)) {
      return;
    }
    if (pod.behind || lost(pod)) {
      rewrite(pod);
    }
  }

  /** Clears the index of the pod; false while that is under way or when it failed. */
  private boolean cleared(PodBlocks pod) {
    CompletableFuture<?> clearing = pod.clearing;
    if (clearing == null) {
      clearing = writes.clear(pod);
      pod.clearing = clearing;
    }
    if (!clearing.isDone()) {
      // Clearing takes long where the index is large, and nothing is written for the pod till then.
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

  /** Whether a few of the pod's blocks are no longer in the index. */
  private boolean lost(PodBlocks pod) {
    List<Long> sample = new ArrayList<>();
    List<PodLedger.Shelf> shelves = pod.ledger.sample(sample);
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
      if (!Arrays.asList(found.at(i)).containsAll(shelves.get(i).holders())) {
        return true;
      }
    }
    return false;
  }

  /** Writes all that the ledger says. */
  private void rewrite(PodBlocks pod) {
    pod.behind = false;
    pod.suspect = false;
    boolean any = false;
    for (PodLedger.Shelf shelf : pod.ledger.shelves()) {
      any |= shelf.blocks().size() > 0;
      rewrite(pod, shelf);
    }
    writes.settle();
    if (any) {
      counts.rewrites.increment();
    }
  }

  private void rewrite(PodBlocks pod, PodLedger.Shelf shelf) {
    CountedBlocks blocks = shelf.blocks();
    long[] hashes = new long[BLOCKS_AT_ONCE];
    long[] keys = new long[BLOCKS_AT_ONCE];
    int size = 0;
    for (int slot = 0; slot < blocks.slots() && !pod.behind; slot++) {
      if (!blocks.taken(slot)) {
        continue;
      }
      long[] wide = blocks.wideKeys(slot);
      if (wide != null) {
        add(pod, new long[] {blocks.hash(slot)}, wide, shelf.holders(), Context.root());
        continue;
      }
      hashes[size] = blocks.hash(slot);
      keys[size++] = blocks.lastKey(slot);
      if (size == BLOCKS_AT_ONCE) {
        add(pod, hashes.clone(), keys.clone(), shelf.holders(), Context.root());
        size = 0;
      }
    }
    if (size > 0) {
      add(
          pod,
          Arrays.copyOf(hashes, size),
          Arrays.copyOf(keys, size),
          shelf.holders(),
          Context.root());
    }
  }
}
