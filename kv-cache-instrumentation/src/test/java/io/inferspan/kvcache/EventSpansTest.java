package io.inferspan.kvcache;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.KvBatchObserver;
import io.inferspan.kvcache.index.KvBatchObserver.Batch;
import io.inferspan.kvcache.index.KvBatchObserver.Observation;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The optional spans of engines' events, which are separate traces. */
class EventSpansTest {

  private static final String A = "10.0.0.1:8000";
  private static final PodEntry A_GPU = PodEntry.of(A, "gpu");
  private static final PodEntry A_CPU = PodEntry.of(A, "cpu");
  private static final PodEntry B_GPU = PodEntry.of("10.0.0.2:8000", "gpu");
  private static final Batch BATCH = new Batch(A, "tcp://a:5557", "kv@a@m", 7, 100, 2);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @RegisterExtension
  final TracingExtension unsampled =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOff())).build();

  private final FakeIndex index = new FakeIndex();

  private Telemetry telemetry(SpanNaming naming) {
    return Telemetry.using(
        tracing.openTelemetry(), TelemetryOptions.builder().spanNaming(naming).build());
  }

  private static void write(BlockIndex traced, Context context) {
    traced.add(new long[2], new long[3], List.of(A_GPU, A_CPU, B_GPU), context);
    traced.evict(1, KeyType.ENGINE, List.of(A_GPU), context);
  }

  private static void enter(KvBatchObserver batches, BlockIndex traced) {
    try (Observation batch = batches.begin(BATCH)) {
      write(traced, batch.context());
    }
  }

  @Test
  void aBatch_isATrace_withItsBlocksUnderIt() {
    KvCacheTracing spans = KvCacheTracing.create(telemetry(SpanNaming.CURRENT));
    enter(spans.batches(), spans.traced(index));

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            events_process [CONSUMER] {llm_d.kv_cache.events.event_count=2}
              index_add [INTERNAL]
              index_evict [INTERNAL] {llm_d.kv_cache.index.evict.key_type=engine}
            """);
  }

  @Test
  void proposal_namesTheBatchAfterTheModule() {
    KvCacheTracing spans = KvCacheTracing.create(telemetry(SpanNaming.PROPOSAL));
    enter(spans.batches(), spans.traced(index));

    assertThatSpans(tracing.spans())
        .hasTree(
            """
            llm_d.kv_cache.events.process [CONSUMER]
              llm_d.kv_cache.index.add
              llm_d.kv_cache.index.evict
            """);
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void everyAttribute_isRecorded(SpanNaming naming) {
    KvCacheTracing spans = KvCacheTracing.create(telemetry(naming));
    spans.events(BATCH).close();
    write(spans.traced(index), Context.root());

    List<SpanRecord> ended = tracing.spans();
    assertThat(ended.get(0).attributes())
        .isEqualTo(
            Map.ofEntries(
                Map.entry("llm_d.kv_cache.events.topic", "kv@a@m"),
                Map.entry("llm_d.kv_cache.events.source_endpoint", "tcp://a:5557"),
                Map.entry("llm_d.kv_cache.events.sequence", 7L),
                Map.entry("llm_d.kv_cache.events.payload_size_bytes", 100L),
                Map.entry("llm_d.kv_cache.events.pod_id", A),
                Map.entry("llm_d.kv_cache.events.event_count", 2L)));
    assertThat(ended.get(1).attributes())
        .isEqualTo(
            Map.of(
                "llm_d.kv_cache.index.add.engine_key_count", 2L,
                "llm_d.kv_cache.index.add.request_key_count", 3L,
                "llm_d.kv_cache.index.add.pod_entry_count", 3L,
                "llm_d.kv_cache.index.add.device_tier_count", 2L));
    assertThat(ended.get(2).attributes())
        .isEqualTo(
            Map.of(
                "llm_d.kv_cache.index.evict.key_type", "engine",
                "llm_d.kv_cache.index.evict.key_count", 1L,
                "llm_d.kv_cache.index.evict.pod_entry_count", 1L,
                "llm_d.kv_cache.index.evict.device_tier_count", 1L));
  }

  @Test
  void writesOfNoRequest_areTracesOfTheirOwn() {
    KvCacheTracing spans = KvCacheTracing.create(telemetry(SpanNaming.CURRENT));
    write(spans.traced(index), Context.root());

    assertThat(tracing.spans()).hasSize(2).allMatch(SpanRecord::isRoot);
    assertThat(tracing.spans().stream().map(SpanRecord::traceId).distinct()).hasSize(2);
  }

  @Test
  void theSampler_decidesForAWholeBatch() {
    KvCacheTracing spans = KvCacheTracing.create(Telemetry.using(unsampled.openTelemetry()));
    enter(spans.batches(), spans.traced(index));

    assertThat(unsampled.spans()).isEmpty();
    assertThat(index.contexts()).as("the index is called").hasSize(2);
  }

  @Test
  void spansOfEvents_canBeSwitchedOff() {
    Telemetry telemetry = telemetry(SpanNaming.CURRENT);
    KvCacheTracing spans = KvCacheTracing.create(telemetry).withoutEvents();
    BlockIndex traced = spans.traced(index);
    spans.events(BATCH).close();
    enter(spans.batches(), traced);
    write(traced, Context.root());
    assertThat(tracing.spans()).isEmpty();
    assertThat(index.contexts()).as("the index is called").hasSize(4);

    try (OperationSpan request = telemetry.span(EppSpans.PREFIX_PRODUCER, Context.root()).start()) {
      write(traced, request.context());
    }
    assertThatSpans(tracing.spans())
        .as("blocks that a request expects are the request's")
        .hasTree(
            """
            produce_precise_prefix_cache
              index_add
              index_evict {llm_d.kv_cache.index.evict.key_type=engine}
            """);
  }
}
