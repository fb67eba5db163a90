package io.inferspan.kvcache.metrics;

import io.inferspan.kvcache.index.BlockHits;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The meters of one index. */
final class IndexMeters {

  private final Timer lookups;
  private final Counter failedLookups;
  private final Counter found;
  private final Counter missing;
  private final Writes adds;
  private final Writes evicts;
  private final Writes clears;

  IndexMeters(MeterRegistry registry, String index) {
    lookups =
        Timer.builder("inferspan.kvcache.lookup")
            .description("Lookups, from the call to the answer")
            .tag(KvCacheMeters.INDEX, index)
            .register(registry);
    failedLookups =
        Counter.builder("inferspan.kvcache.lookup.failures")
            .description("Lookups that the index could not answer")
            .tag(KvCacheMeters.INDEX, index)
            .register(registry);
    found = blocks(registry, index, "found");
    missing = blocks(registry, index, "missing");
    adds = new Writes(registry, index, "add");
    evicts = new Writes(registry, index, "evict");
    clears = new Writes(registry, index, "clear");
  }

  private static Counter blocks(MeterRegistry registry, String index, String result) {
    return Counter.builder("inferspan.kvcache.lookup.blocks")
        .description("Requested blocks; the share found is the hit ratio")
        .baseUnit("blocks")
        .tag(KvCacheMeters.INDEX, index)
        .tag("result", result)
        .register(registry);
  }

  /** Counts a lookup; the hits are null if the index returned none. */
  void lookedUp(long nanos, @Nullable BlockHits hits) {
    lookups.record(nanos, TimeUnit.NANOSECONDS);
    if (hits == null || hits.failure() != null) {
      failedLookups.increment();
      return;
    }
    int held = hits.found();
    found.increment(held);
    missing.increment(hits.size() - held);
  }

  Writes adds() {
    return adds;
  }

  Writes evicts() {
    return evicts;
  }

  Writes clears() {
    return clears;
  }

  /** Counts writes of one kind. */
  static final class Writes {
    private final Counter made;
    private final Counter failed;

    private Writes(MeterRegistry registry, String index, String kind) {
      made =
          Counter.builder("inferspan.kvcache.writes")
              .description("Changes that the index was asked to make")
              .tag(KvCacheMeters.INDEX, index)
              .tag("kind", kind)
              .register(registry);
      failed =
          Counter.builder("inferspan.kvcache.write.failures")
              .description("Changes that the index could not make")
              .tag(KvCacheMeters.INDEX, index)
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
