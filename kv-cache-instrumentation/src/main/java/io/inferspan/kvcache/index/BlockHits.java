package io.inferspan.kvcache.index;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The result of a lookup: for each requested block key, the pods that hold it.
 *
 * <p>A reusable buffer. Its arrays belong to the index and must not be modified.
 */
public final class BlockHits {

  static final PodEntry[] NO_PODS = {};

  private static final int UNCOUNTED = -1;

  private final CompletableFuture<BlockHits> completed = CompletableFuture.completedFuture(this);

  private PodEntry[][] found = {};
  private int size;
  private int held = UNCOUNTED;
  private @Nullable String failure;

  /** Creates an empty buffer. */
  public BlockHits() {}

  /** Clears the buffer and makes room for this number of keys. */
  public void reset(int keys) {
    if (found.length < keys) {
      found = new PodEntry[Math.max(keys, found.length * 2)][];
    }
    Arrays.fill(found, 0, keys, NO_PODS);
    size = keys;
    held = UNCOUNTED;
    failure = null;
  }

  /** Sets the holders of the key at {@code position}. */
  public void set(int position, PodEntry[] holders) {
    found[position] = holders;
    held = UNCOUNTED;
  }

  /** Reports that the index could not answer; no key then counts as found. */
  public void fail(String reason) {
    Arrays.fill(found, 0, size, NO_PODS);
    held = 0;
    failure = reason;
  }

  /**
   * Returns a stage that is completed with this buffer; always the same one, so that a synchronous
   * index allocates none.
   */
  public CompletableFuture<BlockHits> completed() {
    return completed;
  }

  /**
   * Returns whether {@code stage} is {@link #completed()}. If so, the result can be used without a
   * callback.
   */
  @SuppressWarnings("ReferenceEquality") // identity is intended
  public boolean isAnsweredBy(CompletionStage<BlockHits> stage) {
    return stage == completed;
  }

  /** Returns the number of requested keys. */
  public int size() {
    return size;
  }

  /** Returns the holders of the key at {@code position}; empty if there are none. */
  public PodEntry[] at(int position) {
    return found[position];
  }

  /** Sets the number of keys with a holder, so that {@link #found()} need not count them. */
  void found(int keys) {
    held = keys;
  }

  /** Returns the number of keys that at least one pod holds. */
  public int found() {
    if (held == UNCOUNTED) {
      held = count();
    }
    return held;
  }

  @SuppressWarnings("ReferenceEquality") // neighbours mostly share the same array of holders
  private int count() {
    int count = 0;
    int isHeld = 0;
    PodEntry[] before = NO_PODS;
    for (int i = 0; i < size; i++) {
      PodEntry[] holders = found[i];
      if (holders != before) {
        isHeld = holders.length > 0 ? 1 : 0;
        before = holders;
      }
      count += isHeld;
    }
    return count;
  }

  /** Returns why the index could not answer, or null if it did. */
  public @Nullable String failure() {
    return failure;
  }
}
