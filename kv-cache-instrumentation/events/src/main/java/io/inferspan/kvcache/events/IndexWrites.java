package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayDeque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes to an asynchronous index.
 *
 * <p>Writes of one kind run concurrently, so that a remote index does not cost one round trip per
 * block. Additions wait for removals and removals for additions, because a remote index may perform
 * either in more than one step. Single-threaded; the thread may block.
 */
final class IndexWrites {

  private static final int MOST_PENDING = 128;

  /** A pending write and its pod. */
  private record Pending(PodBlocks pod, CompletableFuture<?> written) {}

  private final BlockIndex index;
  private final long waitMillis;
  private final Consumer<PodBlocks> failed;
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private boolean adding;

  /**
   * Creates a writer for this index.
   *
   * @param waitMillis the time to wait for all pending writes; longer than the index's own deadline
   * @param failed called with the pod of each write that failed
   */
  IndexWrites(BlockIndex index, long waitMillis, Consumer<PodBlocks> failed) {
    this.index = index;
    this.waitMillis = waitMillis;
    this.failed = failed;
  }

  void add(PodBlocks pod, long[] hashes, long[] keys, List<PodEntry> holders, Context context) {
    turn(true);
    write(pod, () -> index.add(hashes, keys, holders, context));
  }

  void evict(PodBlocks pod, long hash, List<PodEntry> holders, Context context) {
    turn(false);
    write(pod, () -> index.evict(hash, KeyType.ENGINE, holders, context));
  }

  /** Begins to remove a pod from all blocks, after all pending writes. */
  CompletableFuture<?> clear(PodBlocks pod) {
    settle();
    return started(() -> index.clear(pod.pod));
  }

  /** Returns the key that an engine's hash maps to; null if it is unknown or cannot be read. */
  @Nullable Long requestKey(PodBlocks pod, long hash) {
    settle();
    CompletableFuture<OptionalLong> asked = started(() -> index.requestKey(hash));
    if (!done(asked)) {
      failed.accept(pod);
      return null;
    }
    OptionalLong key = asked.join();
    return key.isPresent() ? (Long) key.getAsLong() : null;
  }

  private void turn(boolean toAdding) {
    if (adding != toAdding) {
      settle();
      adding = toAdding;
    }
  }

  private void write(PodBlocks pod, Supplier<CompletionStage<Void>> write) {
    CompletableFuture<Void> written = started(write);
    if (written.isDone() && !written.isCompletedExceptionally()) {
      return;
    }
    pending.add(new Pending(pod, written));
    if (pending.size() >= MOST_PENDING) {
      settle();
    }
  }

  /**
   * Waits for the writes under way and reports those that failed.
   *
   * <p>They share one deadline: an index that stopped answering costs one wait, not one per write.
   */
  void settle() {
    if (pending.isEmpty()) {
      return;
    }
    done(
        CompletableFuture.allOf(
            pending.stream().map(Pending::written).toArray(CompletableFuture[]::new)));
    for (Pending next = pending.poll(); next != null; next = pending.poll()) {
      if (!next.written().isDone() || next.written().isCompletedExceptionally()) {
        failed.accept(next.pod());
      }
    }
  }

  /** Starts a call; an index must not throw, but an exception counts as a failed write. */
  static <T> CompletableFuture<T> started(Supplier<CompletionStage<T>> call) {
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Waits for a call and returns whether it succeeded. */
  boolean done(CompletableFuture<?> call) {
    try {
      call.get(waitMillis, TimeUnit.MILLISECONDS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException | TimeoutException | CancellationException e) {
      return false;
    }
  }
}
