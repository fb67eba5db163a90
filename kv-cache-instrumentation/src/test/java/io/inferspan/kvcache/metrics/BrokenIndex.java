package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** An index that can do nothing: it says so, fails or throws. */
final class BrokenIndex implements BlockIndex {

  private static <T> CompletionStage<T> failed() {
    return CompletableFuture.failedFuture(new IllegalStateException("broken"));
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    into.fail("broken");
    return into.completed();
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    return failed();
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return failed();
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return failed();
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    throw new IllegalStateException("broken");
  }

  @Override
  public void close() {}
}
