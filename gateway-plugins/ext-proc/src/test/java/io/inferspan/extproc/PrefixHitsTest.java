package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Tokenizer;
import io.inferspan.epp.plugins.disagg.ByteThresholdDecider;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Prompts behind Envoy whose beginning an engine has, as an index of token ids knows it. */
final class PrefixHitsTest extends ExtProcFixture {

  private static final int[] TOKENS = new int[32];

  private final FakeEngine holder = FakeEngine.start();
  private final Queue<String> asked = new ConcurrentLinkedQueue<>();

  @AfterEach
  void stopHolder() {
    holder.close();
  }

  /** An index in which one engine holds both blocks of the prompt. */
  private CompletionStage<Map<String, Double>> hits(
      int[] tokens, String model, Set<String> pods, Context context) {
    asked.add(model + ' ' + tokens.length);
    return CompletableFuture.completedFuture(Map.of(holding().authority(), 2.0));
  }

  private Endpoint holding() {
    return Endpoint.of("ns", "holder", "127.0.0.1", holder.port());
  }

  private ExtProcService.Builder service(int thresholdBytes) {
    Scheduler scheduler =
        Scheduler.builder(new PdProfileHandler(new ByteThresholdDecider(thresholdBytes)))
            .profile(
                SchedulerProfile.named("decode")
                    .scorer(new PrecisePrefixCacheScorer(this::hits))
                    .picker(new MaxScorePicker()))
            .profile(SchedulerProfile.named("prefill").picker(new MaxScorePicker()))
            .tracing(EppTracing.create(Telemetry.using(tracing.openTelemetry())))
            .build();
    return ExtProcService.builder(gateway(), scheduler, () -> List.of(endpoint(), holding()));
  }

  private SpanRecord span(String name) {
    return tracing.spans().stream()
        .filter(span -> span.name().equals(name))
        .reduce((first, second) -> second)
        .orElseThrow();
  }

  private void ask(Tokenizer tokenizer) throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service(10).tokenizer(tokenizer).build(), DUPLEX)) {
      assertThat(ask(rig, WHOLE, "x-llm-d-model-name-rewrite: other").status()).isEqualTo(200);
      tracing.awaitSpans(10, SOON);
    }
  }

  @Test
  void promptOfWhichAnEngineHoldsAll_goesThere_andIsPrefilledThere() throws Exception {
    for (int i = 0; i < 5; i++) {
      tracing.clear();
      ask((model, input) -> model.equals("other") && input[0] == '[' ? TOKENS : null);
    }
    assertThat(asked).containsOnly("other 32").hasSize(5);
    assertThat(holder.requestCount()).isEqualTo(5);
    assertThat(engine.requestCount()).isZero();
    assertThat(span("llm_d.epp.scorer.prefix_cache").attribute("llm_d.epp.scorer.score.max"))
        .isEqualTo(1.0);
    SpanRecord decision = span("llm_d.epp.profile_handler.pick");
    assertThat(decision.attribute("llm_d.epp.profile_handler.decision")).isEqualTo("decode_only");
    assertThat(decision.attribute("llm_d.epp.profile_handler.cache_hits")).isEqualTo(2L);
    assertThat(decision.attribute("llm_d.epp.profile_handler.reason")).isEqualTo("mostly_cached");
  }

  @Test
  void tokenizerThatThrowsOrKnowsNothing_costsTheTokensOnly() throws Exception {
    ask((model, input) -> null);
    ask(
        (model, input) -> {
          throw new IllegalStateException();
        });
    assertThat(asked).isEmpty();
    assertThat(holder.requestCount() + engine.requestCount()).isEqualTo(2);
  }

  @Test
  void scorerThatNeedsTokens_isRefusedWithoutATokenizer() {
    assertThatThrownBy(() -> service(10).build())
        .hasMessageContaining("the service has no tokenizer; set one");
  }
}
