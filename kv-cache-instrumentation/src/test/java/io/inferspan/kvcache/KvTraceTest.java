package io.inferspan.kvcache;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.kvcache.FakeIndex.Manner;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.score.PodScores;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The spans of a lookup, in each generation of names. */
class KvTraceTest {

  private static final String A = "10.0.0.1:8000";
  private static final String B = "10.0.0.2:8000";
  private static final String C = "10.0.0.3:8000";
  private static final PodEntry A_GPU = PodEntry.of(A, "gpu");
  private static final PodEntry A_CPU = PodEntry.of(A, "cpu");
  private static final PodEntry B_GPU = PodEntry.of(B, "gpu");

  /** Three whole blocks and a bit. */
  private static final int[] TOKENS = IntStream.range(0, 53).toArray();

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeIndex index = new FakeIndex();

  KvTraceTest() {
    long[] keys = BlockKeys.withDefaults().of("m", TOKENS);
    index.put(keys[0], A_GPU, B_GPU).put(keys[1], A_GPU, A_CPU);
  }

  private Telemetry telemetry(SpanNaming naming) {
    return Telemetry.using(
        tracing.openTelemetry(), TelemetryOptions.builder().spanNaming(naming).build());
  }

  private KvCacheIndexer indexer(Telemetry telemetry) {
    return KvCacheIndexer.over(index).tracing(KvCacheTracing.create(telemetry)).build();
  }

  private Map<String, Double> ask(SpanNaming naming, String... pods) {
    Telemetry telemetry = telemetry(naming);
    try (OperationSpan scorer =
        telemetry.span(EppSpans.SCORER_PREFIX_CACHE, Context.root()).start()) {
      PodScores scores =
          indexer(telemetry)
              .podScores(TOKENS, "m", Set.of(pods), scorer.context())
              .toCompletableFuture()
              .join();
      return scores.asMap();
    }
  }

  @Test
  void proposal_namesScoresLookupAndCompute() {
    assertThat(ask(SpanNaming.PROPOSAL, A, B, C)).isEqualTo(Map.of(A, 2.0, B, 1.0));

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            llm_d.epp.scorer.prefix_cache
              llm_d.kv_cache.get_scores [SERVER] {gen_ai.request.model=m}
                llm_d.kv_cache.storage.lookup [INTERNAL] {llm_d.kv_cache.lookup.cache_hit=true}
                llm_d.kv_cache.scorer.compute [INTERNAL] {llm_d.kv_cache.score.max=2.0}
            """);
  }

  @Test
  void release09_namesScoresLookupAndCompute() {
    ask(SpanNaming.V0_9, A, B, C);

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            score_prefix_cache
              llm_d.kv_cache.score_tokens [INTERNAL] {gen_ai.request.model=m}
                llm_d.kv_cache.index [INTERNAL] {llm_d.kv_cache.lookup.cache_hit=true}
                llm_d.kv_cache.scorer.compute [INTERNAL] {llm_d.kv_cache.score.max=2.0}
            """);
  }

  @Test
  void currentNames_areThoseOfLlmdToday() {
    ask(SpanNaming.CURRENT, A, B, C);

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            score_prefix_cache
              score_tokens [INTERNAL] {gen_ai.request.model=m}
                index_lookup [INTERNAL] {llm_d.kv_cache.lookup.cache_hit=true}
                compute_scores [INTERNAL] {llm_d.kv_cache.score.max=2.0}
            """);
  }

  @Test
  void anAsynchronousAnswer_isTracedTheSame() {
    index.behave(Manner.ANSWERS_LATER);
    assertThat(ask(SpanNaming.CURRENT, A, B, C)).isEqualTo(Map.of(A, 2.0, B, 1.0));

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasTree(
            """
            score_prefix_cache
              score_tokens {llm_d.kv_cache.blocks_found=2}
                index_lookup {llm_d.kv_cache.lookup.blocks_found=2}
                compute_scores {llm_d.kv_cache.score.max=2.0}
            """);
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void everyAttribute_matchesACountByHand(SpanNaming naming) {
    ask(naming, A, B, C);

    List<SpanRecord> spans = tracing.spans();
    assertThat(spans.get(0).attributes())
        .as("lookup")
        .isEqualTo(
            Map.of(
                "llm_d.kv_cache.index.lookup.block_count", 3L,
                "llm_d.kv_cache.lookup.pod_filter_count", 3L,
                "llm_d.kv_cache.lookup.cache_hit", true,
                "llm_d.kv_cache.lookup.blocks_found", 2L));
    assertThat(spans.get(1).attributes())
        .as("compute")
        .isEqualTo(
            Map.of(
                "llm_d.kv_cache.scorer.algorithm",
                "LongestPrefix",
                "llm_d.kv_cache.scorer.key_count",
                3L,
                "llm_d.kv_cache.scorer.pods_scored",
                2L,
                "llm_d.kv_cache.score.max",
                2.0,
                "llm_d.kv_cache.score.avg",
                1.5,
                "llm_d.kv_cache.prefix_match.longest_chain",
                2L));
    assertThat(spans.get(2).attributes())
        .as("scores")
        .isEqualTo(
            Map.ofEntries(
                Map.entry("gen_ai.request.model", "m"),
                Map.entry("llm_d.kv_cache.pod_count", 3L),
                Map.entry("llm_d.kv_cache.pods", List.of(A, B, C)),
                Map.entry("llm_d.kv_cache.token_count", 53L),
                Map.entry("llm_d.kv_cache.block_keys.count", 3L),
                Map.entry("llm_d.kv_cache.total_blocks_available", 4L),
                Map.entry("llm_d.kv_cache.hit_ratio", 2.0 / 3),
                Map.entry("llm_d.kv_cache.pods_with_hits.count", 2L),
                Map.entry("llm_d.kv_cache.pods_with_hits", List.of(A, B)),
                Map.entry("llm_d.kv_cache.block_hit_ratio", 2.0 / 3),
                Map.entry("llm_d.kv_cache.blocks_found", 2L)));
  }

  @Test
  void withoutAFilter_theHitRatioIsOfThePodsThatTheIndexKnows() {
    index.knowing(4);
    ask(SpanNaming.PROPOSAL);

    assertThat(scores().attributes())
        .containsEntry("llm_d.kv_cache.pod_count", 4L)
        .containsEntry("llm_d.kv_cache.pods_with_hits", List.of(A, B))
        .containsEntry("llm_d.kv_cache.hit_ratio", 0.5);
  }

  @Test
  void withoutAFilter_andWithAnIndexThatDoesNotKnowItsPods_thereIsNoHitRatio() {
    ask(SpanNaming.PROPOSAL);

    assertThat(scores().attributes())
        .containsEntry("llm_d.kv_cache.pods_with_hits.count", 2L)
        .doesNotContainKeys("llm_d.kv_cache.pod_count", "llm_d.kv_cache.hit_ratio");
  }

  @Test
  void nothingFound_isARatioOfZero() {
    FakeIndex empty = new FakeIndex().knowing(0);
    Telemetry telemetry = telemetry(SpanNaming.PROPOSAL);
    KvCacheIndexer.over(empty)
        .tracing(KvCacheTracing.create(telemetry))
        .build()
        .podScores(TOKENS, "m", Set.of(), Context.root());

    assertThat(scores().attributes())
        .containsEntry("llm_d.kv_cache.pod_count", 0L)
        .containsEntry("llm_d.kv_cache.hit_ratio", 0.0)
        .containsEntry("llm_d.kv_cache.block_hit_ratio", 0.0)
        .containsEntry("llm_d.kv_cache.blocks_found", 0L)
        .containsEntry("llm_d.kv_cache.pods_with_hits", List.of());
    assertThat(tracing.spans().get(0).attributes())
        .containsEntry("llm_d.kv_cache.lookup.cache_hit", false)
        .containsEntry("llm_d.kv_cache.lookup.blocks_found", 0L);
    assertThat(tracing.spans().get(1).attributes())
        .containsEntry("llm_d.kv_cache.scorer.pods_scored", 0L)
        .containsEntry("llm_d.kv_cache.score.max", 0.0)
        .containsEntry("llm_d.kv_cache.prefix_match.longest_chain", 0L);
  }

  @Test
  void fewerTokensThanABlock_areNotLookedUp() {
    Telemetry telemetry = telemetry(SpanNaming.CURRENT);
    PodScores scores =
        indexer(telemetry)
            .podScores(new int[15], "m", Set.of(A), Context.root())
            .toCompletableFuture()
            .join();

    assertThat(scores.size()).isZero();
    assertThat(index.contexts()).isEmpty();
    assertThatSpans(tracing.spans()).hasTree("score_tokens");
    assertThat(scores().attributes())
        .isEqualTo(
            Map.of(
                "gen_ai.request.model", "m",
                "llm_d.kv_cache.pod_count", 1L,
                "llm_d.kv_cache.pods", List.of(A),
                "llm_d.kv_cache.token_count", 15L,
                "llm_d.kv_cache.block_keys.count", 0L));
  }

  @Test
  void manyPods_areNamedUpToTheBound_andCountedWhole() {
    String[] pods = IntStream.range(0, 100).mapToObj(i -> "pod-" + i).toArray(String[]::new);
    PodEntry[] holders =
        IntStream.range(0, 100)
            .mapToObj(i -> PodEntry.of("pod-" + i, "gpu"))
            .toArray(PodEntry[]::new);
    long[] keys = BlockKeys.withDefaults().of("m", TOKENS);
    index.put(keys[0], holders).put(keys[1]);
    ask(SpanNaming.PROPOSAL, pods);

    Map<String, Object> attributes = scores().attributes();
    assertThat(attributes)
        .containsEntry("llm_d.kv_cache.pod_count", 100L)
        .containsEntry("llm_d.kv_cache.pods_with_hits.count", 100L);
    assertThat((List<?>) attributes.get("llm_d.kv_cache.pods"))
        .hasSize(KvCacheTracing.MAX_PODS_NAMED)
        .isSorted();
    assertThat((List<?>) attributes.get("llm_d.kv_cache.pods_with_hits"))
        .hasSize(KvCacheTracing.MAX_PODS_NAMED)
        .isSorted();
  }

  @Test
  void aLoraAdapter_hasBlocksOfItsOwn_andTheModelsName() {
    Prompt prompt = Prompt.of("m", TOKENS).withLora("adapter");
    index.put(BlockKeys.withDefaults().of("adapter", TOKENS)[0], B_GPU);
    PodScores scores =
        indexer(telemetry(SpanNaming.PROPOSAL))
            .podScores(prompt, Set.of(), Context.root())
            .toCompletableFuture()
            .join();

    assertThat(scores.asMap()).isEqualTo(Map.of(B, 1.0));
    assertThat(scores().attributes()).containsEntry("gen_ai.request.model", "m");
  }

  @Test
  void anIndexThatCannotAnswer_failsItsSpans_withoutItsOwnMessage() {
    index.behave(Manner.SAYS_IT_CANNOT).saying("tokens 1 2 3 are lost");
    assertThat(ask(SpanNaming.CURRENT, A)).isEmpty();

    assertThatSpans(tracing.spans())
        .hasTree(
            """
            score_prefix_cache
              score_tokens {error.type=index_unavailable} ERROR
                index_lookup {error.type=index_unavailable} ERROR
            """);
    assertThat(tracing.spans().subList(0, 2))
        .allSatisfy(
            span -> assertThat(span.statusDescription()).isEqualTo("the index could not answer"));
    assertThat(scores().attributes())
        .doesNotContainKeys("llm_d.kv_cache.blocks_found", "llm_d.kv_cache.hit_ratio");
  }

  @Test
  void anIndexThatIsTracedAlready_isNotTracedTwice() {
    KvCacheTracing spans = KvCacheTracing.create(telemetry(SpanNaming.CURRENT));
    BlockIndex traced = spans.traced(index);

    assertThat(spans.traced(traced)).isSameAs(traced);
  }

  private SpanRecord scores() {
    return tracing.spans().stream()
        .filter(span -> span.attribute("llm_d.kv_cache.token_count") != null)
        .findFirst()
        .orElseThrow();
  }
}
