package io.inferspan.kvcache.events;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change of an engine's cache.
 *
 * <p>Arrays are not copied, and must not be modified.
 */
public sealed interface KvEvent {

  /**
   * The location of blocks in a pod.
   *
   * @param tier the medium in lower case; {@code gpu} if the engine named none
   * @param grouped whether the engine named a cache group, which is a set of model layers that
   *     share block tables
   * @param group the cache group; 0 if the engine named none
   */
  record Place(String tier, boolean grouped, int group) {}

  /**
   * Blocks that were stored in a cache, in the order of the prompt.
   *
   * @param hashes the engine's hashes
   * @param parent the engine's hash of the previous block; null if the first block begins a prompt
   * @param tokens the tokens of all blocks, unsigned; empty if the event reports a further tier or
   *     cache group of known blocks
   * @param blockSize the number of tokens in a block of the engine
   * @param place where the blocks are
   * @param loraName the LoRA adapter they were computed with
   * @param extras the content of each block in addition to tokens; null if no block has any
   * @param cacheKind the kind of attention that the cache serves; null if the engine named none
   */
  @SuppressWarnings("ArrayRecordComponent") // Copies would double what ingestion allocates.
  record BlockStored(
      long[] hashes,
      @Nullable Long parent,
      int[] tokens,
      int blockSize,
      Place place,
      @Nullable String loraName,
      @Nullable List<List<String>> extras,
      @Nullable String cacheKind)
      implements KvEvent {}

  /**
   * Blocks that were removed from a cache.
   *
   * @param hashes the engine's hashes
   * @param place where the blocks were
   */
  @SuppressWarnings("ArrayRecordComponent") // As above.
  record BlockRemoved(long[] hashes, Place place) implements KvEvent {}

  /** An engine dropped its whole cache. */
  record AllBlocksCleared() implements KvEvent {}

  /**
   * An event that could not be read, in an otherwise readable batch.
   *
   * @param reason the reason
   */
  record Unreadable(SkipReason reason) implements KvEvent {}
}
