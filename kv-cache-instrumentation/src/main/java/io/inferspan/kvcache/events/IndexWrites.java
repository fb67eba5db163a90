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
 * Writes to an index that answers later.
 *
 * <p>Writes of one kind are under way together, so that a remote index is not waited for once per
 * block. Adding waits for removals and removals wait for additions, because a remote index may do
 * either in more than one step. For one thread, which may wait.
 */
final class IndexWrites {

  private static final int MOST_PENDING = 128;

  /** A write under way, and whose it is. */
  private record Pending(PodBlocks pod, CompletableFuture<?> written) {}

  private final BlockIndex index;
  private final long waitMillis;
  private final Consumer<PodBlocks> failed;
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private boolean adding;

  /**
   * Writes to this index.
   *
   * @param waitMillis how long one write is waited for; longer than the index's own deadline
   * @param failed is told of each pod that a write failed for
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

  /** Begins to take a pod from all blocks, after all that is under way. */
  CompletableFuture<?> clear(PodBlocks pod) {
    settle();
    return started(() -> index.clear(pod.pod));
  }

  /** The key that an engine's hash stands for; empty where it is unknown or cannot be had. */
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

  /** Waits until nothing is under way. */
  void settle() {
    for (Pending next = pending.poll(); next != null; next = pending.poll()) {
      if (!done(next.written())) {
        failed.accept(next.pod());
      }
    }
  }

  /** An index must not throw; where it does, that is a failed write like any other. */
  static <T> CompletableFuture<T> started(Supplier<CompletionStage<T>> call) {
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Waits, and says whether it went well. */
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
