package io.inferspan.samples.prefixrouting;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class PrefixRoutingTest {

  private static final String MODEL = "test-model";
  private static final int[] PROMPT = IntStream.rangeClosed(1, 64).toArray();
  private static final Endpoint COLD = Endpoint.of("ns", "cold", "10.0.0.1", 8000);
  private static final Endpoint WARM = Endpoint.of("ns", "warm", "10.0.0.2", 8000);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
  private final BlockKeys keys = BlockKeys.withDefaults();

  @Test
  void request_goesToThePodThatHoldsItsPrompt_inOneTrace() {
    try (MemoryBlockIndex index = MemoryBlockIndex.withDefaults()) {
      long[] held = keys.of(MODEL, IntStream.rangeClosed(1, 48).toArray());
      index.add(new long[0], held, List.of(PodEntry.of(WARM.authority(), "gpu")), Context.root());

      assertThat(schedule(index).target()).isEqualTo(WARM);
    }
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            gateway.request
              run_scheduler_profile
                filter_endpoints
                llm_d.epp.scoring
                  llm_d.epp.scorer.precise-prefix-cache-scorer {llm_d.epp.scorer.score.max=1.0}
                  llm_d.epp.scorer.queue-scorer
                pick_endpoints
              llm_d.epp.scorer.prefix_cache {llm_d.epp.scorer.score.max=1.0}
                llm_d.kv_cache.get_scores {llm_d.kv_cache.block_keys.count=4, \
            llm_d.kv_cache.blocks_found=3, llm_d.kv_cache.hit_ratio=0.5}
                  llm_d.kv_cache.storage.lookup {llm_d.kv_cache.lookup.blocks_found=3}
                  llm_d.kv_cache.scorer.compute {llm_d.kv_cache.score.max=3.0}
            llm_d.epp.startup
            """);
  }

  private SchedulingResult schedule(MemoryBlockIndex index) {
    InferenceRequest request = InferenceRequest.to(MODEL).id("r").tokens(PROMPT).build();
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      return PrefixRouting.over(index, keys, telemetry)
          .schedule(request, List.of(COLD, WARM), span.context())
          .toCompletableFuture()
          .join();
    }
  }
}
