package io.inferspan.kvcache.index;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a lookup found: for each block key asked for, the pods that hold it.
 *
 * <p>It is a buffer that its owner uses again and again; the arrays in it belong to the index and
 * are not to be changed.
 */
public final class BlockHits {

  static final PodEntry[] NOBODY = {};

  private static final int UNCOUNTED = -1;

  private final CompletableFuture<BlockHits> completed = CompletableFuture.completedFuture(this);

  private PodEntry[][] found = {};
  private int size;
  private int held = UNCOUNTED;
  private @Nullable String failure;

  /** A buffer that holds nothing yet. */
  public BlockHits() {}

  /** Makes room for the answers to so many keys, all of them empty. */
  public void reset(int keys) {
    if (found.length < keys) {
      found = new PodEntry[Math.max(keys, found.length * 2)][];
    }
    Arrays.fill(found, 0, keys, NOBODY);
    size = keys;
    held = UNCOUNTED;
    failure = null;
  }

  /** Says who holds the key at {@code position}. */
  public void set(int position, PodEntry[] holders) {
    found[position] = holders;
    held = UNCOUNTED;
  }

  /** Says that the index could not answer; nothing counts as found then. */
  public void fail(String reason) {
    Arrays.fill(found, 0, size, NOBODY);
    held = 0;
    failure = reason;
  }

  /**
   * A stage that is complete with this buffer; the same one each time, so that an index that
   * answers at once allocates none.
   */
  public CompletableFuture<BlockHits> completed() {
    return completed;
  }

  /**
   * Whether {@code stage} is {@link #completed()}, which is all that can be seen of a stage without
   * asking to be told.
   */
  @SuppressWarnings("ReferenceEquality") // that one, not one like it
  public boolean isAnsweredBy(CompletionStage<BlockHits> stage) {
    return stage == completed;
  }

  /** How many keys were asked for. */
  public int size() {
    return size;
  }

  /** Who holds the key at {@code position}; empty where nobody does. */
  public PodEntry[] at(int position) {
    return found[position];
  }

  /** Says how many keys somebody holds, by an index that knew when it had set them all. */
  void found(int keys) {
    held = keys;
  }

  /** How many of the keys somebody holds. */
  public int found() {
    if (held == UNCOUNTED) {
      held = count();
    }
    return held;
  }

  @SuppressWarnings("ReferenceEquality") // neighbours mostly have the same holders, told once
  private int count() {
    int count = 0;
    int isHeld = 0;
    PodEntry[] before = NOBODY;
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

  /** Why the index could not answer, or null where it did. */
  public @Nullable String failure() {
    return failure;
  }
}
