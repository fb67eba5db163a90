package io.inferspan.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.KvBatchObserver;
import io.inferspan.kvcache.index.KvBatchObserver.Batch;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.propagation.HeaderMap;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Unrecorded spans allocate nothing. */
class AllocationTest {

  private static final int ROUNDS = 50_000;

  /** Less than a byte a round; the rest is the JVM's own. */
  private static final long NOTHING = 40_000;

  private static final Map<String, String> UNSAMPLED =
      Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  private static final Batch BATCH =
      new Batch("10.0.0.1:8000", "tcp://10.0.0.1:5557", "kv@a@m", 1L << 40, 1_000_000, 1_000);
  private static final long[] KEYS = new long[4];
  private static final Set<String> PODS = Set.of("10.0.0.1:8000", "10.0.0.2:8000");
  private static final List<PodEntry> HOLDERS =
      List.of(PodEntry.of("10.0.0.1:8000", "gpu"), PodEntry.of("10.0.0.1:8000", "cpu"));

  @Test
  void anUnsampledRequest_costsNothing() {
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .serviceName("allocation")
                .setting("otel.traces.exporter", "none")
                .setting("otel.traces.sampler", "parentbased_always_on")
                .build())) {
      Context context = telemetry.extract(UNSAMPLED, HeaderMap.HEADERS);

      assertThat(allocated(KvCacheTracing.create(telemetry), context)).isLessThan(NOTHING);
    }
  }

  @Test
  void noTracing_costsNothing() {
    KvCacheTracing tracing = KvCacheTracing.create(Telemetry.using(OpenTelemetry.noop()));

    assertThat(allocated(tracing, Context.root())).isLessThan(NOTHING);
  }

  @Test
  void eventsThatAreSwitchedOff_costNothing() {
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .serviceName("allocation")
                .setting("otel.traces.exporter", "none")
                .setting("otel.traces.sampler", "always_on")
                .build())) {
      KvCacheTracing tracing = KvCacheTracing.create(telemetry).withoutEvents();
      BlockIndex traced = tracing.traced(new StillIndex());

      KvBatchObserver batches = tracing.batches();
      Runnable round =
          () -> {
            change(traced, Context.root());
            tracing.events(BATCH).close();
            batches.begin(BATCH).close();
          };
      assertThat(Allocations.of(ROUNDS, round)).isLessThan(NOTHING);
    }
  }

  private static long allocated(KvCacheTracing tracing, Context context) {
    BlockIndex traced = tracing.traced(new StillIndex());
    BlockHits hits = new BlockHits();
    long[] keys = new long[200];
    return Allocations.of(
        ROUNDS,
        () -> {
          ask(tracing, traced, hits, keys, context);
          change(traced, context);
        });
  }

  private static void ask(
      KvCacheTracing tracing, BlockIndex traced, BlockHits hits, long[] keys, Context context) {
    OperationSpan scores = tracing.scores("m", 3_200, PODS, context);
    tracing.keyed(scores, 200);
    traced.lookup(keys, PODS, hits, scores.context());
    OperationSpan lookup = tracing.lookup(200, 2, context);
    tracing.lookedUp(lookup, 150);
    lookup.close();
    OperationSpan compute = tracing.compute("LongestPrefix", 200, scores.context());
    tracing.computed(compute, 2, 2.5, 1.25, hits);
    compute.close();
    tracing.found(scores, hits, PODS.size());
    tracing.unanswered(scores);
    scores.close();
  }

  private static void change(BlockIndex traced, Context context) {
    traced.add(KEYS, KEYS, HOLDERS, context);
    traced.evict(1, KeyType.ENGINE, HOLDERS, context);
  }

  /** An index that allocates nothing itself. */
  private static final class StillIndex implements BlockIndex {
    private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);
    private static final CompletionStage<OptionalLong> UNKNOWN =
        CompletableFuture.completedFuture(OptionalLong.empty());
    private static final CompletionStage<BlockHits> FOUND =
        CompletableFuture.completedFuture(new BlockHits());

    @Override
    public CompletionStage<BlockHits> lookup(
        long[] keys, Set<String> pods, BlockHits into, Context context) {
      into.reset(keys.length);
      return FOUND;
    }

    @Override
    public CompletionStage<Void> add(
        long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
      return DONE;
    }

    @Override
    public CompletionStage<Void> evict(
        long key, KeyType type, List<PodEntry> holders, Context context) {
      return DONE;
    }

    @Override
    public CompletionStage<OptionalLong> requestKey(long engineKey) {
      return UNKNOWN;
    }

    @Override
    public CompletionStage<Void> clear(String pod) {
      return DONE;
    }

    @Override
    public void close() {}
  }
}
