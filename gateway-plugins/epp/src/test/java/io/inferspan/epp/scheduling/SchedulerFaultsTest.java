package io.inferspan.epp.scheduling;

import static io.inferspan.epp.scheduling.Stubs.currentNames;
import static io.inferspan.epp.scheduling.Stubs.giving;
import static io.inferspan.epp.scheduling.Stubs.nullHandler;
import static io.inferspan.epp.scheduling.Stubs.scheduled;
import static io.inferspan.epp.scheduling.Stubs.scorer;
import static io.inferspan.epp.scheduling.Stubs.scoring;
import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scores;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Plugins whose answers are none, and a scheduler's start. */
@Timeout(30)
final class SchedulerFaultsTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final EppTracing spans = currentNames(tracing);

  private Scheduler.Builder single(SchedulerProfile profile) {
    return Stubs.single(spans, profile);
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
                    scoring(
                        scorer("few", into -> ofOne.done()),
                        scorer("many", into -> ofFour.done()),
                        scorer("none", into -> CompletableFuture.completedFuture(null)),
                        scorer("later", into -> CompletableFuture.supplyAsync(() -> ofOne)),
                        giving("works", 0, 0.5, 0)))
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
  void stagesThatDoNotSayWhetherTheyAreDone_countAsAnyOther() {
    CompletableFuture<Scores> later = new CompletableFuture<>();
    CompletionStage<SchedulingResult> result =
        single(
                scoring(
                    scorer("minimal", into -> best(into, 0).minimalCompletionStage()),
                    scorer("foreign", into -> foreign(best(into, 1))),
                    scorer("later", into -> later.minimalCompletionStage())))
            .timeout(Duration.ofSeconds(20))
            .build()
            .schedule(InferenceRequest.to("m").build(), Fleet.pods(2), Context.root());
    later.complete(best(Scores.of(2), 1).join());

    assertThat(result.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join().target())
        .hasToString("ns/b");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints
              scoring
                llm_d.epp.scorer.minimal {llm_d.epp.scorer.endpoints_scored=1}
                llm_d.epp.scorer.foreign {llm_d.epp.scorer.endpoints_scored=1}
                llm_d.epp.scorer.later {llm_d.epp.scorer.endpoints_scored=1}
              pick_endpoints
            """);
  }

  /** A stage that is no future, as its specification allows. */
  @SuppressWarnings("unchecked") // the proxy has that one interface
  private static CompletionStage<Scores> foreign(CompletableFuture<Scores> scores) {
    return (CompletionStage<Scores>)
        Proxy.newProxyInstance(
            CompletionStage.class.getClassLoader(),
            new Class<?>[] {CompletionStage.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("toCompletableFuture")) {
                throw new UnsupportedOperationException();
              }
              return method.invoke(scores, arguments);
            });
  }

  private static CompletableFuture<Scores> best(Scores scores, int endpoint) {
    scores.set(endpoint, 1);
    return CompletableFuture.completedFuture(scores);
  }

  @Test
  void aHandlerThatAnswersNull_runsNothing_whetherItIsSeenOrNot() {
    for (EppTracing seen : List.of(spans, EppTracing.none())) {
      for (ProfileHandler.Shape shape : ProfileHandler.Shape.values()) {
        SchedulingResult result =
            scheduled(
                Scheduler.builder(nullHandler(shape)).tracing(seen).profile(scoring()).build());
        assertThat(result.failure()).isEqualTo("no endpoint is available");
      }
    }
  }

  @Test
  void start_isATraceOfItsOwn_inTheProposalsNamesOnly() {
    EppTracing proposal = EppTracing.create(Telemetry.using(tracing.openTelemetry()));
    SchedulerProfile profile = scoring();
    single(profile).build();
    assertThat(tracing.spans()).isEmpty();
    single(profile).tracing(proposal).build();
    assertThatSpans(tracing.spans())
        .hasTree("llm_d.epp.startup {component=scheduler, operation=build}");

    tracing.clear();
    assertThatThrownBy(
            () -> Scheduler.builder(new SingleProfileHandler()).tracing(proposal).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatSpans(tracing.spans())
        .hasTree("llm_d.epp.startup {error.type=java.lang.IllegalArgumentException} ERROR");
  }
}
