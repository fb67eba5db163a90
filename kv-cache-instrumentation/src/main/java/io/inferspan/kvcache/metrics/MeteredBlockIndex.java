package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts the calls and times the lookups of an index; results are unchanged. */
final class MeteredBlockIndex implements BlockIndex {

  private final BlockIndex index;
  private final Timer lookups;
  private final Counter failedLookups;
  private final Counter found;
  private final Counter missing;
  private final Writes adds;
  private final Writes evicts;
  private final Writes clears;

  MeteredBlockIndex(BlockIndex metered, MeterRegistry registry, String name) {
    this.index = metered;
    lookups =
        Timer.builder("inferspan.kvcache.lookup")
            .description("Lookups, from the call to the answer")
            .tag(KvCacheMeters.INDEX, name)
            .register(registry);
    failedLookups =
        Counter.builder("inferspan.kvcache.lookup.failures")
            .description("Lookups that the index could not answer")
            .tag(KvCacheMeters.INDEX, name)
            .register(registry);
    found = blocks(registry, name, "found");
    missing = blocks(registry, name, "missing");
    adds = new Writes(registry, name, "add");
    evicts = new Writes(registry, name, "evict");
    clears = new Writes(registry, name, "clear");
  }

  private static Counter blocks(MeterRegistry registry, String name, String result) {
    return Counter.builder("inferspan.kvcache.lookup.blocks")
        .description("Requested blocks; the share found is the hit ratio")
        .baseUnit("blocks")
        .tag(KvCacheMeters.INDEX, name)
        .tag("result", result)
        .register(registry);
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    long start = System.nanoTime();
    try {
      CompletionStage<BlockHits> answer = index.lookup(keys, pods, into, context);
      if (into.isAnsweredBy(answer)) {
        lookedUp(System.nanoTime() - start, into);
        return answer;
      }
      return answer.whenComplete((hits, failure) -> lookedUp(System.nanoTime() - start, hits));
    } catch (RuntimeException e) {
      lookedUp(System.nanoTime() - start, null);
      throw e;
    }
  }

  /** Counts a lookup; the hits are null if the index returned none. */
  private void lookedUp(long nanos, @Nullable BlockHits hits) {
    lookups.record(nanos, TimeUnit.NANOSECONDS);
    if (hits == null || hits.failure() != null) {
      failedLookups.increment();
      return;
    }
    int held = hits.found();
    found.increment(held);
    missing.increment(hits.size() - held);
  }

  @Override
  public boolean answersAtOnce() {
    return index.answersAtOnce();
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    return adds.counting(() -> index.add(engineKeys, requestKeys, holders, context));
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return evicts.counting(() -> index.evict(key, type, holders, context));
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return index.requestKey(engineKey);
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return clears.counting(() -> index.clear(pod));
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

  /** Counts writes of one kind. */
  private static final class Writes {
    private final Counter made;
    private final Counter failed;

    private Writes(MeterRegistry registry, String name, String kind) {
      made =
          Counter.builder("inferspan.kvcache.writes")
              .description("Changes that the index was asked to make")
              .tag(KvCacheMeters.INDEX, name)
              .tag("kind", kind)
              .register(registry);
      failed =
          Counter.builder("inferspan.kvcache.write.failures")
              .description("Changes that the index could not make")
              .tag(KvCacheMeters.INDEX, name)
              .tag("kind", kind)
              .register(registry);
    }

    CompletionStage<Void> counting(Supplier<CompletionStage<Void>> write) {
      made.increment();
      try {
        return write.get().whenComplete((nothing, failure) -> count(failure));
      } catch (RuntimeException e) {
        failed.increment();
        throw e;
      }
    }

    private void count(@Nullable Throwable failure) {
      if (failure != null) {
        failed.increment();
      }
    }
  }
}
