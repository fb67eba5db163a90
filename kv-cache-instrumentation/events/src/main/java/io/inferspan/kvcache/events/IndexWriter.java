package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.opentelemetry.context.Context;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes events to an index, and repairs the index after failures, so that it agrees with what the
 * engines reported.
 *
 * <p>Additions run concurrently with other additions, and removals with other removals, so that a
 * remote index does not cost one round trip per block. An addition waits for earlier removals, and
 * a removal for earlier additions, because a remote index may need several steps for one of them.
 *
 * <p>{@link PodBlocks} records what the index should contain for a pod. After a failed write, the
 * pod is <em>behind</em>: its events change only this record, until the pod has been cleared in the
 * index and rewritten. The repair is retried after 100 ms, then at doubling intervals up to 5 s.
 *
 * <p>The first failed write of an outage, or a lost connection, makes all other pods of all workers
 * <em>suspect</em>, because an index that has restarted may have lost their blocks. A few blocks of
 * each suspect pod are looked up; if one is missing, the pod is rewritten. A pod that keeps failing
 * does not prevent the repair of the others.
 *
 * <p>Data that the index loses while it stays connected is not noticed. Not thread-safe; methods
 * may block.
 */
final class IndexWriter {

  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int BLOCKS_AT_ONCE = 512;
  private static final int MOST_PENDING = 128;

  /** A pending write and its pod. */
  private record Pending(PodBlocks pod, CompletableFuture<?> written) {}

  private final BlockIndex index;
  private final KvEventOptions options;
  private final KvEventCounts counts;
  private final AtomicLong outages;
  private final Map<String, PodBlocks> pods = new HashMap<>();
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();

  /** True if the pending writes are additions, false if they are removals. */
  private boolean adding;

  private long seenOutages;
  private boolean repairsDue;

  /** True during an outage of the index, in which writes pause until {@link #retryNanos}. */
  private boolean down;

  /** The number of failed attempts since the index was last available. */
  private int failedAttempts;

  private long retryNanos;

  /**
   * Creates the writer of one worker's pods.
   *
   * @param outages the number of index outages, shared by all workers
   */
  IndexWriter(BlockIndex index, KvEventOptions options, KvEventCounts counts, AtomicLong outages) {
    this.index = index;
    this.options = options;
    this.counts = counts;
    this.outages = outages;
    this.seenOutages = knownOutages();
  }

  PodBlocks pod(String name) {
    PodBlocks pod = pods.computeIfAbsent(name, n -> new PodBlocks(n, options.maxBlocksPerPod));
    pod.leaving = false;
    return pod;
  }

  void add(PodBlocks pod, PodBlocks.Tier tier, long[] hashes, long[] keys, Context context) {
    write(pod, true, () -> index.add(hashes, keys, tier.holders, context));
  }

  void evict(PodBlocks pod, PodBlocks.Tier tier, long hash, Context context) {
    write(pod, false, () -> index.evict(hash, KeyType.ENGINE, tier.holders, context));
  }

  private void write(PodBlocks pod, boolean addition, Supplier<CompletionStage<Void>> call) {
    if (!writable(pod)) {
      return;
    }
    if (adding != addition) {
      awaitWrites();
      adding = addition;
    }
    CompletableFuture<Void> written = started(call);
    if (written.isDone() && !written.isCompletedExceptionally()) {
      return;
    }
    pending.add(new Pending(pod, written));
    if (pending.size() >= MOST_PENDING) {
      awaitWrites();
    }
  }

  /**
   * Returns the request key of an engine's hash, whichever pod reported it. Returns null if the key
   * is unknown, or if the index cannot be queried now.
   */
  @Nullable Long requestKey(PodBlocks pod, long hash) {
    if (!writable(pod)) {
      return null;
    }
    awaitWrites();
    CompletableFuture<OptionalLong> asked = started(() -> index.requestKey(hash));
    if (!succeeded(asked)) {
      failed(pod);
      return null;
    }
    OptionalLong key = asked.join();
    return key.isPresent() ? (Long) key.getAsLong() : null;
  }

  /**
   * Removes a pod from all blocks: immediately from the record, and from the index as soon as
   * possible.
   */
  void clear(PodBlocks pod) {
    awaitWrites();
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

  /**
   * Waits for the pending writes and notes those that failed.
   *
   * <p>All writes share one deadline, so an index that stopped answering costs one timeout.
   */
  private void awaitWrites() {
    if (pending.isEmpty()) {
      return;
    }
    succeeded(
        CompletableFuture.allOf(
            pending.stream().map(Pending::written).toArray(CompletableFuture[]::new)));
    for (Pending next = pending.poll(); next != null; next = pending.poll()) {
      if (!next.written().isDone() || next.written().isCompletedExceptionally()) {
        failed(next.pod());
      }
    }
  }

  /** Starts a call. If the index throws, although it must not, the call has failed. */
  private static <T> CompletableFuture<T> started(Supplier<CompletionStage<T>> call) {
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Waits for a call and returns whether it succeeded. */
  private boolean succeeded(CompletableFuture<?> call) {
    try {
      call.get(options.writeTimeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException | TimeoutException | CancellationException e) {
      return false;
    }
  }

  /** Returns whether the pod's changes may be written to the index now. */
  private boolean writable(PodBlocks pod) {
    if (down && !pod.behind) {
      // A write would wait for the timeout, and delay all pods of this worker.
      putBehind(pod);
    }
    return !pod.behind;
  }

  private void putBehind(PodBlocks pod) {
    pod.behind = true;
    repairsDue = true;
  }

  /**
   * Notes a write that failed.
   *
   * <p>The first failure of a pod since its last repair counts as an outage of the index. Further
   * failures pause only the pod, because damaged entries of the pod may cause them.
   */
  private void failed(PodBlocks pod) {
    counts.increment(KvEventCount.FAILED_WRITES);
    putBehind(pod);
    if (down) {
      // The write was started before the outage.
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

  /** Waits for pending writes, and repairs the pods that are due. */
  void maintain() {
    awaitWrites();
    long known = knownOutages();
    if (known != seenOutages) {
      seenOutages = known;
      pods.values().forEach(pod -> pod.suspect = true);
      repairsDue = true;
    }
    if (repairsDue && (!down || System.nanoTime() - retryNanos >= 0)) {
      repairAll();
    }
  }

  /** Returns the number of outages found by failed writes, plus the number of lost connections. */
  private long knownOutages() {
    return outages.get() + index.losses();
  }

  /** Repairs the pods that are due; those that failed most often come last. */
  private void repairAll() {
    down = false;
    long began = System.nanoTime();
    List<PodBlocks> due =
        pods.values().stream()
            .filter(pod -> pod.needsRepair() && pod.isDue(began))
            .sorted(Comparator.comparingInt(pod -> pod.failures))
            .toList();
    for (PodBlocks pod : due) {
      repair(pod);
      if (pod.failures > 0 && System.nanoTime() - began > LEAST_PAUSE_NANOS) {
        // Further timeouts would delay the events of all pods of this worker.
        outage();
      }
      if (down) {
        break;
      }
    }
    pods.values().removeIf(pod -> pod.leaving && !pod.behind);
    repairsDue = down || pods.values().stream().anyMatch(PodBlocks::needsRepair);
    if (!down) {
      failedAttempts = 0;
    }
  }

  /** Repairs a pod, unless its clearing in the index is still running. */
  private void repair(PodBlocks pod) {
    if (pod.behind ? cleared(pod) : lost(pod)) {
      rewrite(pod);
    }
    if (!pod.needsRepair()) {
      pod.failures = 0;
    }
  }

  /** Clears the pod in the index; returns false if the clearing is still running or has failed. */
  private boolean cleared(PodBlocks pod) {
    CompletableFuture<?> clearing = pod.clearing;
    if (clearing == null) {
      awaitWrites();
      clearing = started(() -> index.clear(pod.pod));
      pod.clearing = clearing;
    }
    if (!clearing.isDone()) {
      // Clearing a large index takes long, and the pod is not written until it ends.
      return false;
    }
    pod.clearing = null;
    if (!succeeded(clearing)) {
      failed(pod);
      return false;
    }
    return true;
  }

  /** Looks up a sample of the pod's blocks, and returns whether one is missing from the index. */
  private boolean lost(PodBlocks pod) {
    List<Long> sample = new ArrayList<>();
    List<PodBlocks.Tier> tiers = pod.sample(sample);
    long[] keys = sample.stream().mapToLong(Long::longValue).toArray();
    CompletableFuture<BlockHits> asked =
        started(() -> index.lookup(keys, Set.of(pod.pod), new BlockHits(), Context.root()));
    if (!succeeded(asked) || asked.join().failure() != null) {
      failed(pod);
      return false;
    }
    pod.suspect = false;
    BlockHits found = asked.join();
    for (int i = 0; i < keys.length; i++) {
      if (!Arrays.asList(found.at(i)).containsAll(tiers.get(i).holders)) {
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
    for (PodBlocks.Tier tier : pod.tiers) {
      any |= tier.size() > 0;
      rewrite(pod, tier);
    }
    awaitWrites();
    if (any) {
      counts.increment(KvEventCount.REWRITES);
    }
  }

  private void rewrite(PodBlocks pod, PodBlocks.Tier tier) {
    long[] hashes = new long[BLOCKS_AT_ONCE];
    long[] keys = new long[BLOCKS_AT_ONCE];
    int size = 0;
    for (int slot = 0; slot < tier.slots() && !pod.behind; slot++) {
      if (tier.taken(slot) && tier.isWide(slot)) {
        add(pod, tier, new long[] {tier.hash(slot)}, tier.keys(slot), Context.root());
      } else if (tier.taken(slot)) {
        hashes[size] = tier.hash(slot);
        keys[size++] = tier.lastKey(slot);
      }
      if (size == BLOCKS_AT_ONCE) {
        add(pod, tier, hashes.clone(), keys.clone(), Context.root());
        size = 0;
      }
    }
    if (size > 0) {
      add(pod, tier, Arrays.copyOf(hashes, size), Arrays.copyOf(keys, size), Context.root());
    }
  }
}
