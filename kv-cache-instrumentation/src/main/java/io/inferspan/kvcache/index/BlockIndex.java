package io.inferspan.kvcache.index;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * An index of the pods that hold each block.
 *
 * <p>A block has two keys: the request key, which {@code BlockKeys} computes from the tokens of a
 * prompt, and the engine key, the hash by which its engine identifies it in events. A holder is a
 * pod and the memory tier, such as {@code gpu}, in which it has the block.
 *
 * <p>All methods may be called from any thread, never block, and never throw because of the
 * backend. A backend that cannot answer returns no hits and the reason in {@link
 * BlockHits#failure()}; a failed write completes its stage exceptionally.
 *
 * <p>The context is the request's, or the root for engines' events; only spans use it.
 */
public interface BlockIndex extends AutoCloseable {

  /**
   * Looks up the holders of blocks.
   *
   * @param keys request keys in the order of the prompt
   * @param pods the pods to consider; empty for all
   * @param into the buffer for the result; it must not be used until the stage completes
   * @return a stage that completes with {@code into}, and never fails
   */
  CompletionStage<BlockHits> lookup(long[] keys, Set<String> pods, BlockHits into, Context context);

  /**
   * Returns whether a lookup completes before the call returns and calls no other service, so that
   * its span has no children and needs no context.
   */
  default boolean answersAtOnce() {
    return false;
  }

  /**
   * Adds holders to blocks, and stores which request keys the engine keys map to.
   *
   * @param engineKeys the blocks' engine keys; empty if no engine has reported the blocks
   * @param requestKeys the blocks' request keys
   */
  CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context);

  /**
   * Removes holders from the block with this request key, or from all blocks that this engine key
   * maps to.
   */
  CompletionStage<Void> evict(long key, KeyType type, List<PodEntry> holders, Context context);

  /**
   * Returns the request key of the last block that an engine key maps to; empty if it is unknown.
   */
  CompletionStage<OptionalLong> requestKey(long engineKey);

  /** Removes a pod from all blocks. */
  CompletionStage<Void> clear(String pod);

  /**
   * Returns how many pods a lookup without a filter considers: those known to hold blocks.
   *
   * @return the number, or -1 if only the backend knows it
   */
  default int knownPods() {
    return -1;
  }

  /** Returns how often the backend's connection, and possibly the index's content, was lost. */
  default long losses() {
    return 0;
  }

  /** Releases connections and memory; further lookups find nothing. */
  @Override
  void close();
}
