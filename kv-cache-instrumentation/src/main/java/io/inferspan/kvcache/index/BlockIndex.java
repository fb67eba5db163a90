package io.inferspan.kvcache.index;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * Which pods hold which blocks.
 *
 * <p>All methods may be called from any thread, never block, and never throw for what the backend
 * does. A backend that cannot answer finds nothing and says so in {@link BlockHits#failure()}; a
 * write that could not be made completes with the exception.
 *
 * <p>The context is that of the request, or the root for what an engine tells; only spans use it.
 */
public interface BlockIndex extends AutoCloseable {

  /**
   * Looks up who holds the blocks.
   *
   * @param keys request keys in the order of the prompt
   * @param pods the pods that count; empty for all
   * @param into where the answers go; untouched by others until the stage completes
   * @return a stage that completes with {@code into}, and never fails
   */
  CompletionStage<BlockHits> lookup(long[] keys, Set<String> pods, BlockHits into, Context context);

  /**
   * Whether a lookup is over when the call returns and asks nobody else, so that nothing hangs
   * under its span and no context need be made for it.
   */
  default boolean answersAtOnce() {
    return false;
  }

  /**
   * Adds holders to blocks, and remembers which request keys an engine's hashes stand for.
   *
   * @param engineKeys the engine's hashes; empty where no engine told of the blocks
   * @param requestKeys the blocks
   */
  CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context);

  /** Takes holders from a block, or from all blocks that an engine's hash stands for. */
  CompletionStage<Void> evict(long key, KeyType type, List<PodEntry> holders, Context context);

  /** The last block that an engine's hash stands for; empty where it is unknown. */
  CompletionStage<OptionalLong> requestKey(long engineKey);

  /** Takes a pod from all blocks. */
  CompletionStage<Void> clear(String pod);

  /** How often it lost touch with what keeps the blocks, which may have lost them. */
  default long losses() {
    return 0;
  }

  /** Lets go of connections and memory; further calls find nothing. */
  @Override
  void close();
}
