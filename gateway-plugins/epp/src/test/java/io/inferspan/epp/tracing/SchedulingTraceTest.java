package io.inferspan.epp.tracing;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.plugins.disagg.ByteThresholdDecider;
import io.inferspan.epp.plugins.disagg.DisaggProfileHandler;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.epp.plugins.disagg.TokenThresholdDecider;
import io.inferspan.testing.SpanTree;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.sdk.common.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The trace of one scheduling with prefill elsewhere, attribute by attribute.
 *
 * <p>After a change that is meant, {@code -Dgolden.write=true} writes the golden files anew.
 */
final class SchedulingTraceTest {

  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  /** 400 tokens of four bytes, of which the first decoder holds two blocks of 16. */
  private static final InferenceRequest REQUEST =
      InferenceRequest.to("m")
          .id("r")
          .tokens(Fleet.tokens(0, 400))
          .inputBytes(1600)
          .media(List.of(), 0)
          .build();

  @RegisterExtension
  final TracingExtension tracing = TracingExtension.builder().clock(new Ticking()).build();

  /** Every reading is later than the one before, so that siblings have an order. */
  private static final class Ticking implements Clock {
    private final AtomicLong nanos = new AtomicLong(1_000_000_000);

    @Override
    public long now() {
      return nanos.addAndGet(1000);
    }

    @Override
    public long nanoTime() {
      return nanos.addAndGet(1000);
    }
  }

  private Map<String, String> schedule(SpanNaming naming, ProfileHandler handler) {
    PdScheduling scheduling = new PdScheduling(tracing.openTelemetry(), naming, handler);
    // The picker's startup is a separate trace.
    tracing.clear();
    return scheduling.schedule(REQUEST);
  }

  private void isGolden(String name) throws IOException {
    String text =
        SpanTree.of(tracing.spans())
            .render(SpanTree.Options.DEFAULT.withAttributes(key -> true).withoutTimes());
    Path golden = GOLDEN.resolve(name);
    if (Boolean.getBoolean("golden.write")) {
      Files.createDirectories(GOLDEN);
      Files.writeString(golden, text);
    }
    assertThat(text).isEqualTo(Files.readString(golden));
  }

  @Test
  void proposal_hasLookupDecisionAndPreparationUnderTheRequest() throws IOException {
    Map<String, String> headers =
        schedule(SpanNaming.PROPOSAL, new PdProfileHandler(new ByteThresholdDecider(1024)));

    assertThat(headers)
        .containsEntry("x-gateway-destination-endpoint", "10.0.0.1:8000")
        .containsEntry("x-prefiller-host-port", "10.0.0.3:8000");
    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasTree(
            """
            gateway.request [SERVER]
              llm_d.epp.profile_handler.pick {llm_d.epp.profile_handler.decision=run_decode}
              run_scheduler_profile {llm_d.epp.scheduling.profile.name=decode}
                filter_endpoints {llm_d.epp.filter.filtered_endpoints=2}
                llm_d.epp.scoring
                  llm_d.epp.scorer.precise-prefix-cache-scorer
                  llm_d.epp.scorer.queue-scorer
                  llm_d.epp.scorer.session-affinity-scorer
                pick_endpoints
              llm_d.epp.scorer.prefix_cache {llm_d.epp.scorer.score.max=1.0}
                llm_d.kv_cache.get_scores
              llm_d.epp.profile_handler.pick {llm_d.epp.profile_handler.decision=prefill_decode, \
            llm_d.epp.profile_handler.pd_threshold=1024, \
            llm_d.epp.profile_handler.cache_hit_ratio=0.08, \
            llm_d.epp.profile_handler.non_cached_bytes=1472}
              run_scheduler_profile {llm_d.epp.scheduling.profile.name=prefill}
                filter_endpoints
                llm_d.epp.scoring
                  llm_d.epp.scorer.precise-prefix-cache-scorer
                  llm_d.epp.scorer.queue-scorer
                  llm_d.epp.scorer.session-affinity-scorer
                pick_endpoints
              llm_d.epp.scorer.prefix_cache
                llm_d.kv_cache.get_scores
              llm_d.epp.profile_handler.pick {llm_d.epp.profile_handler.decision=complete}
              llm_d.epp.prerequest.pd_disaggregation {llm_d.epp.pd.prefill_pod_port=8000}
            """);
    isGolden("pd-proposal.txt");
  }

  @Test
  void current_hasAStepForEachStage() throws IOException {
    schedule(
        SpanNaming.CURRENT,
        DisaggProfileHandler.builder().prefillDecider(new TokenThresholdDecider(256)).build());

    assertThatSpans(tracing.spans())
        .isOneTrace()
        .hasTree(
            """
            request [SERVER]
              pick_disagg_profile {llm_d.epp.profile_handler.decision=run_decode}
              run_scheduler_profile {llm_d.epp.scheduling.profile.name=decode}
                filter_endpoints
                scoring
                  llm_d.epp.scorer.precise-prefix-cache-scorer
                    score_prefix_cache
                      score_tokens
                  llm_d.epp.scorer.queue-scorer
                  llm_d.epp.scorer.session-affinity-scorer
                pick_endpoints
              pick_disagg_profile {llm_d.epp.profile_handler.decision=run_prefill}
              run_scheduler_profile {llm_d.epp.scheduling.profile.name=prefill}
                filter_endpoints
                scoring
                  llm_d.epp.scorer.precise-prefix-cache-scorer
                    score_prefix_cache
                      score_tokens
                  llm_d.epp.scorer.queue-scorer
                  llm_d.epp.scorer.session-affinity-scorer
                pick_endpoints
              pick_disagg_profile {llm_d.epp.profile_handler.decision=complete_prefill-decode}
              prepare_disaggregation {llm_d.epp.pd.disaggregation_used=true}
            """);
    isGolden("pd-current.txt");
  }
}
