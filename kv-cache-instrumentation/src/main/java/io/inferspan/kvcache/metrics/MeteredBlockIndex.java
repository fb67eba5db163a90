package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Counts the calls and times the lookups of an index; results are unchanged. */
final class MeteredBlockIndex implements BlockIndex {

  private final BlockIndex index;
  private final IndexMeters meters;

  MeteredBlockIndex(BlockIndex index, IndexMeters meters) {
    this.index = index;
    this.meters = meters;
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    long start = System.nanoTime();
    try {
      CompletionStage<BlockHits> found = index.lookup(keys, pods, into, context);
      if (into.isAnsweredBy(found)) {
        meters.lookedUp(System.nanoTime() - start, into);
        return found;
      }
      return found.whenComplete(
          (hits, failure) -> meters.lookedUp(System.nanoTime() - start, hits));
    } catch (RuntimeException e) {
      meters.lookedUp(System.nanoTime() - start, null);
      throw e;
    }
  }

  @Override
  public boolean answersAtOnce() {
    return index.answersAtOnce();
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    return meters.adds().counting(() -> index.add(engineKeys, requestKeys, holders, context));
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return meters.evicts().counting(() -> index.evict(key, type, holders, context));
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return index.requestKey(engineKey);
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return meters.clears().counting(() -> index.clear(pod));
  }

  @Override
  public int knownPods() {
    return index.knownPods();
  }

  @Override
  public long losses() {
    return index.losses();
  }

  @Override
  public void close() {
    index.close();
  }
}
