package io.inferspan.kvcache.events;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine tells of its cache.
 *
 * <p>The arrays in it belong to whoever decoded it; they are not copied.
 */
public sealed interface KvEvent {

  /**
   * Where in a pod blocks lie.
   *
   * @param tier the medium in lower case; {@code gpu} where the engine named none
   * @param grouped whether the engine said to which group of caches they belong
   * @param group that group, 0 where it said none
   */
  record Place(String tier, boolean grouped, int group) {}

  /**
   * Blocks that are now in a cache, in the order of the prompt.
   *
   * @param hashes the engine's names for them
   * @param parent the engine's name for the block before; null where they begin a prompt
   * @param tokens their tokens, unsigned; empty where known blocks are now in one more place
   * @param blockSize how many tokens a block of the engine has
   * @param place where they lie
   * @param loraName the adapter that they were computed with
   * @param extras for each block what else its name is made of; null where there is nothing
   * @param cacheKind what kind of attention the cache serves; null where the engine said none
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
   * Blocks that are no longer in a cache.
   *
   * @param hashes the engine's names for them
   * @param place where they lay
   */
  @SuppressWarnings("ArrayRecordComponent") // As above.
  record BlockRemoved(long[] hashes, Place place) implements KvEvent {}

  /** An engine dropped its whole cache. */
  record AllBlocksCleared() implements KvEvent {}

  /**
   * An event that could not be read, in a batch that otherwise could.
   *
   * @param reason why
   */
  record Unreadable(SkipReason reason) implements KvEvent {}
}
