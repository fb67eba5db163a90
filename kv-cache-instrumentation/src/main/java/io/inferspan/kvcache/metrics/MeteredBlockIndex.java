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

  private static final String PREFIX = "inferspan.kvcache.";
  private static final String INDEX = KvCacheMeters.INDEX;

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
        Timer.builder(PREFIX + "lookup")
            .description("Lookups, from the call to the answer")
            .tag(INDEX, name)
            .register(registry);
    failedLookups =
        counter("lookup.failures", "Lookups without an answer").tag(INDEX, name).register(registry);
    found = blocks("found", name, registry);
    missing = blocks("missing", name, registry);
    adds = new Writes("add", name, registry);
    evicts = new Writes("evict", name, registry);
    clears = new Writes("clear", name, registry);
  }

  private static Counter blocks(String result, String name, MeterRegistry registry) {
    return counter("lookup.blocks", "Requested blocks; the share found is the hit ratio")
        .baseUnit("blocks")
        .tags(INDEX, name, "result", result)
        .register(registry);
  }

  private static Counter.Builder counter(String meter, String description) {
    return Counter.builder(PREFIX + meter).description(description);
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

    private Writes(String kind, String name, MeterRegistry registry) {
      String[] tags = {INDEX, name, "kind", kind};
      made = counter("writes", "Writes to the index").tags(tags).register(registry);
      failed = counter("write.failures", "Writes that failed").tags(tags).register(registry);
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
