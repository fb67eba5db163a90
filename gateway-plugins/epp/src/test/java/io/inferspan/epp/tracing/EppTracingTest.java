package io.inferspan.epp.tracing;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.ProfileHandler.Pick;
import io.inferspan.epp.ProfileHandler.Shape;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.score.LoadScorers;
import io.inferspan.propagation.HeaderMap;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class EppTracingTest {

  private static final InferenceRequest REQUEST =
      InferenceRequest.to("m").id("r").media(List.of("image"), 2).build();

  @RegisterExtension
  final TracingExtension tracing =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOn())).build();

  private final Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
  private final EppTracing spans = EppTracing.create(telemetry);

  private SpanRecord only() {
    assertThat(tracing.spans()).hasSize(1);
    return tracing.spans().get(0);
  }

  @Test
  void withoutPlugins_eachSpanHasItsMethod() {
    Scores scores = Scores.of(2);
    scores.set(1, 0.5);
    try (OperationSpan profile = spans.profileRun("decode", Context.root())) {
      try (OperationSpan filters = spans.filters(REQUEST, 3, profile.context())) {
        filters.set(EppAttributes.FILTER_KEPT, 2);
      }
      try (OperationSpan scoring = spans.scoring(REQUEST, 1, 2, profile.context());
          OperationSpan scorer =
              spans.scorer(() -> "my-scorer", 2, REQUEST, 2, scoring.context())) {
        EppTracing.scored(scorer, scores);
      }
      spans.picker(Fleet.pods(2), scores, profile.context()).close();
    }
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints {llm_d.epp.filter.candidate_endpoints=3, gen_ai.request.model=m}
              llm_d.epp.scoring
                llm_d.epp.scorer.my-scorer {llm_d.epp.scorer.type=my-scorer, \
            llm_d.epp.scorer.name=my-scorer, llm_d.epp.scorer.score.avg=0.5, \
            llm_d.epp.scorer.endpoints_scored=1}
              pick_endpoints {llm_d.epp.picker.candidate_endpoints=2}
            """);
  }

  @Test
  void producersOfDataForPlugins_haveTheirMethods() {
    try (OperationSpan producer = spans.prefixProducer(REQUEST, 3, Context.root())) {
      EppTracing.matched(producer, 12, 5);
    }
    try (OperationSpan producer = spans.prefixProducer(REQUEST, 3, Context.root())) {
      EppTracing.notTokenized(producer);
    }
    try (OperationSpan call = spans.tokenizer("/render", "vllm", Fleet.pod(0), Context.root())) {
      EppTracing.tokenized(call, 200, 192);
    }
    try (OperationSpan call = spans.tokenizer("/render", "vllm", Fleet.pod(0), Context.root())) {
      EppTracing.tokenized(call, 503, 0);
    }
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            produce_precise_prefix_cache {llm_d.epp.producer.candidate_endpoints=3, \
            llm_d.epp.producer.total_blocks=12, llm_d.epp.producer.max_match_blocks=5, \
            gen_ai.request.model=m, mm.hash_count=2}
            produce_precise_prefix_cache {llm_d.epp.producer.result=skipped_no_tokens}
            tokenize_render /render [CLIENT] {llm_d.epp.token_producer.backend=vllm, \
            llm_d.epp.token_producer.result=ok, llm_d.epp.token_producer.token_count=192, \
            http.request.method=POST, http.response.status_code=200, server.address=10.0.0.1, \
            server.port=8000}
            tokenize_render /render [CLIENT] {llm_d.epp.token_producer.result=error, \
            http.response.status_code=503, error.type=503} ERROR
            """);
  }

  @Test
  void valuesOfClients_areTruncatedOrOmitted_onEverySpan() {
    InferenceRequest request = InferenceRequest.to("m".repeat(5000)).id("i\nd").build();
    SchedulingResult result = SchedulingResult.to(Fleet.cycle(request), Fleet.pods(1));
    for (OperationSpan span :
        List.of(
            spans.filters(request, 1, Context.root()),
            spans.scoring(request, 1, 1, Context.root()),
            spans.scorer(() -> "my-scorer", 1, request, 1, Context.root()),
            spans.prefixScorer(request, 1, Context.root()),
            spans.prefixProducer(request, 1, Context.root()),
            spans.profileHandler(request, 1, 1, Context.root()),
            spans.disaggProfileHandler(request, Context.root()),
            spans.preRequest(result, Context.root()))) {
      span.close();
    }
    assertThat(tracing.spans())
        .hasSize(8)
        .allSatisfy(
            span -> {
              assertThat(span.attribute("gen_ai.request.model")).isEqualTo("m".repeat(128));
              assertThat(span.attribute("gen_ai.request.id")).isNull();
            });
  }

  @Test
  void startup_isATraceOfItsOwn() {
    spans.startup("scheduler", "load plugins").close();
    assertThatSpans(tracing.spans())
        .hasTree("llm_d.epp.startup {component=scheduler, operation=load plugins}");
  }

  @Test
  void aDecision_carriesAllThatWasWeighed() {
    PdReasoning why = new PdReasoning(true, "why", 1024, 1600, 5, 0.2, 1280);
    try (OperationSpan span = spans.profileHandler(REQUEST, 2, 1, Context.root())) {
      EppTracing.decided(
          span, Shape.PREFILL_DECODE, Pick.run("prefill", "prefill_decode").because(why));
    }
    assertThat(only().attributes())
        .isEqualTo(
            Map.ofEntries(
                Map.entry("gen_ai.request.model", "m"),
                Map.entry("gen_ai.request.id", "r"),
                Map.entry("mm.modality", "image"),
                Map.entry("mm.hash_count", 2L),
                Map.entry("llm_d.epp.profile_handler.total_profiles", 2L),
                Map.entry("llm_d.epp.profile_handler.executed_profiles", 1L),
                Map.entry("llm_d.epp.profile_handler.decision", "prefill_decode"),
                Map.entry("llm_d.epp.profile_handler.selected_profile", "prefill"),
                Map.entry("llm_d.epp.profile_handler.pd_threshold", 1024L),
                Map.entry("llm_d.epp.profile_handler.user_input_bytes", 1600L),
                Map.entry("llm_d.epp.profile_handler.cache_hit_ratio", 0.2),
                Map.entry("llm_d.epp.profile_handler.cache_hits", 5L),
                Map.entry("llm_d.epp.profile_handler.non_cached_bytes", 1280L),
                Map.entry("llm_d.epp.profile_handler.reason", "why")));
  }

  @Test
  void aDecision_omitsUnknownCounts_andFailsWithoutTheInputSize() {
    try (OperationSpan span = spans.profileHandler(REQUEST, 2, 1, Context.root())) {
      EppTracing.decided(
          span,
          Shape.PREFILL_DECODE,
          Pick.end("decode_only").because(PdReasoning.of(false, PdReasoning.INPUT_UNKNOWN)));
    }
    assertThat(only().isError()).isTrue();
    assertThat(only().attributes())
        .containsEntry("llm_d.epp.profile_handler.reason", "input_size_unknown")
        .doesNotContainKeys(
            "llm_d.epp.profile_handler.cache_hit_ratio",
            "llm_d.epp.profile_handler.non_cached_bytes");
  }

  @Test
  void aStep_recordsTheFailedStages() {
    try (OperationSpan span = spans.disaggProfileHandler(REQUEST, Context.root())) {
      EppTracing.decided(
          span, Shape.STAGED, Pick.end("complete_decode-only").withPrefillFailed(true));
    }
    assertThat(only().attributes())
        .containsEntry("llm_d.epp.profile_handler.prefill_failed", true)
        .doesNotContainKey("llm_d.epp.profile_handler.decode_failed");
  }

  @Test
  void thePicker_showsTheFiveBest_equalsByName() {
    Scores scores = Scores.of(7);
    for (int i = 0; i < 7; i++) {
      scores.set(i, i < 4 ? 0.5 : i);
    }
    spans.picker(Fleet.pods(7), scores, Context.root()).close();

    assertThat(only().attributes())
        .containsEntry(
            "llm_d.epp.picker.top_endpoints", List.of("ns/g", "ns/f", "ns/e", "ns/a", "ns/b"))
        .containsEntry("llm_d.epp.picker.top_scores", List.of(6.0, 5.0, 4.0, 0.5, 0.5));
  }

  private Map<String, Object> prepared(SchedulingResult result) {
    tracing.clear();
    spans.traced(new DisaggHeaders()).prepare(result, Fleet.noHeaders());
    return only().attributes();
  }

  @Test
  void thePreparation_recordsWhyAStageIsMissing() {
    SchedulingResult result = SchedulingResult.to(Fleet.cycle(REQUEST), Fleet.pods(1));

    assertThat(prepared(result))
        .containsEntry("llm_d.epp.pd.disaggregation_used", false)
        .containsEntry("llm_d.epp.pd.reason", "no_prefill_profile_result")
        .containsEntry("llm_d.epp.encode.reason", "no_encode_profile_result");
    assertThat(prepared(result.withStages(List.of(), List.of())))
        .containsEntry("llm_d.epp.pd.reason", "no_prefill_profile_target_endpoints")
        .containsEntry("llm_d.epp.encode.reason", "no_encode_profile_target_endpoints");
    assertThat(prepared(result.withStages(Fleet.pods(1), Fleet.pods(2))))
        .containsEntry("llm_d.epp.pd.prefill_pod_address", "10.0.0.1")
        .containsEntry("llm_d.epp.encode.endpoints", "10.0.0.1:8000,10.0.0.2:8000")
        .doesNotContainKeys("llm_d.epp.pd.reason", "llm_d.epp.encode.reason");
    assertThat(prepared(SchedulingResult.failed(Fleet.cycle(REQUEST), "none")))
        .containsEntry("llm_d.epp.disagg.reason", "scheduling_result_is_nil")
        .containsEntry("llm_d.epp.pd.disaggregation_used", false);
  }

  @Test
  void aPluginThatPreparesNoDisaggregation_hasNoSpan() {
    PreRequest plugin =
        new PreRequest() {
          @Override
          public String type() {
            return "quiet";
          }

          @Override
          public void prepare(SchedulingResult result, Headers headers) {}
        };
    spans
        .traced(plugin)
        .prepare(SchedulingResult.to(Fleet.cycle(), Fleet.pods(1)), Fleet.noHeaders());
    assertThat(tracing.spans()).isEmpty();
  }

  @Test
  void withoutTracing_nothingIsRecorded() {
    assertThat(EppTracing.none().startup("c", "o").recording()).isFalse();
  }

  @Test
  void unsampled_decoratorsAllocateNothing() {
    var threads = ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads instanceof com.sun.management.ThreadMXBean bean
            && bean.isThreadAllocatedMemorySupported(),
        "this JVM does not count allocations");
    Context unsampled =
        telemetry.extract(
            Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"),
            HeaderMap.HEADERS);
    Scorer scorer = spans.traced(LoadScorers.queue(), 2);
    score(scorer, unsampled, 20_000);

    var counting = (com.sun.management.ThreadMXBean) threads;
    long thread = Thread.currentThread().getId();
    long before = counting.getThreadAllocatedBytes(thread);
    score(scorer, unsampled, 100_000);
    // Not a byte per request; the rest is the JVM's own.
    assertThat(counting.getThreadAllocatedBytes(thread) - before).isLessThan(50_000);
    assertThat(tracing.spans()).isEmpty();
  }

  /** The spans of a scheduling around a scorer that allocates nothing itself. */
  private void score(Scorer scorer, Context context, int requests) {
    Cycle cycle = new Cycle(REQUEST, context, Long.MAX_VALUE);
    List<Endpoint> pods = List.of(Fleet.pod(0));
    Scores scores = Scores.of(1);
    SchedulingResult result = SchedulingResult.to(cycle, pods);
    Pick pick = Pick.end("complete").because(PdReasoning.of(false, "why"));
    for (int i = 0; i < requests; i++) {
      OperationSpan handler = spans.profileHandler(REQUEST, 2, 1, context);
      EppTracing.decided(handler, Shape.PREFILL_DECODE, pick);
      handler.close();
      OperationSpan profile = spans.profileRun("decode", context);
      spans.filters(REQUEST, 1, profile.context()).close();
      OperationSpan scoring = spans.scoring(REQUEST, 1, 1, profile.context());
      scorer.score(cycle, pods, scores, scoring.context());
      scoring.close();
      spans.prefixScorer(REQUEST, 1, context).close();
      spans.picker(pods, scores, profile.context()).close();
      profile.close();
      spans.preRequest(result, context).close();
    }
  }
}
