package io.inferspan.epp.scheduling;

import static io.inferspan.epp.scheduling.Stubs.giving;
import static io.inferspan.epp.scheduling.Stubs.nullHandler;
import static io.inferspan.epp.scheduling.Stubs.scorer;
import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scores;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Plugins whose answers are none, and a scheduler's start. */
@Timeout(30)
final class SchedulerFaultsTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final EppTracing spans =
      new EppTracing(
          Telemetry.using(
              tracing.openTelemetry(),
              TelemetryOptions.builder().spanNaming(SpanNaming.CURRENT).build()));

  private Scheduler.Builder single(SchedulerProfile profile) {
    return Scheduler.with(new SingleProfileHandler()).tracing(spans).profile(profile);
  }

  private static SchedulingResult scheduled(Scheduler scheduler) {
    return scheduler
        .schedule(InferenceRequest.to("m").build(), Fleet.pods(3), Context.root())
        .toCompletableFuture()
        .orTimeout(20, TimeUnit.SECONDS)
        .join();
  }

  @Test
  @SuppressWarnings("NullAway") // which such plugins do without
  void scorersThatAnswerForOthers_countForNothing() {
    Scores ofOne = Scores.of(1);
    ofOne.set(0, 1);
    Scores ofFour = Scores.of(4);
    ofFour.set(0, 1);
    SchedulingResult result =
        scheduled(
            single(
                    SchedulerProfile.named("p")
                        .scorer(scorer("few", into -> ofOne.done()))
                        .scorer(scorer("many", into -> ofFour.done()))
                        .scorer(scorer("none", into -> CompletableFuture.completedFuture(null)))
                        .scorer(scorer("later", into -> CompletableFuture.supplyAsync(() -> ofOne)))
                        .scorer(giving("works", 0, 0.5, 0))
                        .picker(new MaxScorePicker()))
                .timeout(Duration.ofSeconds(20))
                .build());

    assertThat(result.target()).hasToString("ns/b");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints
              scoring
                llm_d.epp.scorer.few {error.type=wrong_size} ERROR
                llm_d.epp.scorer.many {error.type=wrong_size} ERROR
                llm_d.epp.scorer.none ERROR
                llm_d.epp.scorer.later {error.type=wrong_size} ERROR
                llm_d.epp.scorer.works {llm_d.epp.scorer.endpoints_scored=3}
              pick_endpoints
            """);
  }

  @Test
  void aHandlerThatAnswersNull_runsNothing_whetherItIsSeenOrNot() {
    for (EppTracing seen : List.of(spans, EppTracing.none())) {
      for (ProfileHandler.Shape shape : ProfileHandler.Shape.values()) {
        SchedulingResult result =
            scheduled(
                Scheduler.with(nullHandler(shape))
                    .tracing(seen)
                    .profile(SchedulerProfile.named("p").picker(new MaxScorePicker()))
                    .build());
        assertThat(result.failure()).isEqualTo("no endpoint is available");
      }
    }
  }

  @Test
  void start_isATraceOfItsOwn_inTheProposalsNamesOnly() {
    EppTracing proposal = new EppTracing(Telemetry.using(tracing.openTelemetry()));
    SchedulerProfile profile = SchedulerProfile.named("p").picker(new MaxScorePicker());
    single(profile).build();
    assertThat(tracing.spans()).isEmpty();
    single(profile).tracing(proposal).build();
    assertThatSpans(tracing.spans())
        .hasTree("llm_d.epp.startup {component=scheduler, operation=build}");

    tracing.clear();
    assertThatThrownBy(() -> Scheduler.with(new SingleProfileHandler()).tracing(proposal).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatSpans(tracing.spans())
        .hasTree("llm_d.epp.startup {error.type=java.lang.IllegalArgumentException} ERROR");
  }
}
