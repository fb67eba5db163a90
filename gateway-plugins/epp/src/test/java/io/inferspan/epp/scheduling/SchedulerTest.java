package io.inferspan.epp.scheduling;

import static io.inferspan.epp.scheduling.Stubs.brokenPicker;
import static io.inferspan.epp.scheduling.Stubs.currentNames;
import static io.inferspan.epp.scheduling.Stubs.filter;
import static io.inferspan.epp.scheduling.Stubs.giving;
import static io.inferspan.epp.scheduling.Stubs.greedyHandler;
import static io.inferspan.epp.scheduling.Stubs.preRequest;
import static io.inferspan.epp.scheduling.Stubs.scheduled;
import static io.inferspan.epp.scheduling.Stubs.scheduling;
import static io.inferspan.epp.scheduling.Stubs.scorer;
import static io.inferspan.epp.scheduling.Stubs.scoring;
import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scores;
import io.inferspan.epp.plugins.disagg.Decider;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(30)
final class SchedulerTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final EppTracing spans = currentNames(tracing);

  private Scheduler.Builder single(SchedulerProfile profile) {
    return Stubs.single(spans, profile);
  }

  private SchedulingResult run(SchedulerProfile profile) {
    return scheduled(single(profile).build());
  }

  @Test
  void weightedScores_areSummed() {
    SchedulingResult result =
        run(
            SchedulerProfile.named("p")
                .scorer(giving("one", 1, 0, 0.4))
                .scorer(giving("two", 0, 0.6, 0.5), 2)
                .picker(new MaxScorePicker()));

    assertThat(result.target()).hasToString("ns/c");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile {llm_d.epp.scheduling.profile.name=p}
              filter_endpoints {llm_d.epp.filter.candidate_endpoints=3, \
            llm_d.epp.filter.filtered_endpoints=3, gen_ai.request.id=r}
              scoring {llm_d.epp.scorer.count=2, llm_d.epp.scoring.candidate_endpoints=3}
                llm_d.epp.scorer.one {llm_d.epp.scorer.weight=1.0, llm_d.epp.scorer.score.max=1.0}
                llm_d.epp.scorer.two {llm_d.epp.scorer.weight=2.0, llm_d.epp.scorer.name=two}
              pick_endpoints {llm_d.epp.picker.candidate_endpoints=3}
            """);
    assertThat(assertThatSpans(tracing.spans()).span("pick_endpoints").attributes())
        .containsEntry("llm_d.epp.picker.top_endpoints", List.of("ns/c", "ns/b", "ns/a"))
        .containsEntry("llm_d.epp.picker.top_scores", List.of(1.4, 1.2, 1.0));
  }

  @Test
  void scorersThatThrowOrFail_countForNothing() {
    SchedulingResult result =
        run(
            scoring(
                scorer(
                    "throws",
                    into -> {
                      into.set(0, 1);
                      throw new IllegalStateException("secret");
                    }),
                scorer("fails", into -> CompletableFuture.failedFuture(new RuntimeException())),
                giving("works", 0, 1, 0)));

    assertThat(result.target()).hasToString("ns/b");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints
              scoring
                llm_d.epp.scorer.throws {error.type=java.lang.IllegalStateException} ERROR
                llm_d.epp.scorer.fails {error.type=java.lang.RuntimeException} ERROR
                llm_d.epp.scorer.works {llm_d.epp.scorer.endpoints_scored=3}
              pick_endpoints
            """);
  }

  @Test
  void aScorerThatNeverAnswers_isGivenUpAtTheDeadline() {
    CompletableFuture<Scores> never = new CompletableFuture<>();
    SchedulingResult result =
        scheduled(
            single(
                    scoring(
                        scorer("never", into -> never),
                        giving("works", 0, 1, 0),
                        scorer("never", into -> never)))
                .timeout(Duration.ofMillis(50))
                .build());

    assertThat(result.target()).hasToString("ns/b");
    assertThat(never).as("the scorer's own future").isNotDone();
    assertThat(
            tracing.spans().stream()
                .filter(span -> span.name().equals("llm_d.epp.scorer.never"))
                .map(span -> span.attributes().get("error.type")))
        .containsExactly(
            "java.util.concurrent.TimeoutException", "java.util.concurrent.TimeoutException");
  }

  @Test
  void aScorerThatAnswersLater_counts() {
    CompletableFuture<Scores> later = new CompletableFuture<>();
    Scores[] buffer = new Scores[1];
    Scheduler scheduler =
        single(
                scoring(
                    scorer(
                        "later",
                        into -> {
                          buffer[0] = into;
                          return later;
                        })))
            .timeout(Duration.ofMinutes(1))
            .build();
    CompletableFuture<SchedulingResult> result = scheduling(scheduler);

    assertThat(result).isNotDone();
    buffer[0].set(2, 1);
    later.complete(buffer[0]);
    assertThat(result.getNow(null).target()).hasToString("ns/c");
  }

  @Test
  void pureScorers_needNoWaiting() {
    Scheduler scheduler = single(scoring(giving("one", 1, 0, 0))).build();
    assertThat(scheduling(scheduler)).isDone();
  }

  @Test
  void aFilterThatThrows_isLeftOut() {
    SchedulingResult result =
        run(
            SchedulerProfile.named("p")
                .filter(
                    filter(
                        endpoints -> {
                          throw new IllegalStateException();
                        }))
                .filter(filter(endpoints -> endpoints.subList(1, 2)))
                .picker(new MaxScorePicker()));

    assertThat(result.target()).hasToString("ns/b");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints {llm_d.epp.filter.filtered_endpoints=1} ERROR
              scoring
              pick_endpoints
            """);
  }

  @Test
  @SuppressWarnings("NullAway") // which such plugins do without
  void aPluginThatReturnsNull_isTreatedLikeOneThatThrows() {
    SchedulingResult result =
        run(
            SchedulerProfile.named("p")
                .filter(filter(endpoints -> null))
                .scorer(scorer("null", into -> null))
                .scorer(giving("works", 0, 1, 0))
                .picker(new MaxScorePicker()));

    assertThat(result.target()).hasToString("ns/b");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile
              filter_endpoints ERROR
              scoring
                llm_d.epp.scorer.null ERROR
                llm_d.epp.scorer.works
              pick_endpoints
            """);
  }

  @Test
  void withoutEndpoints_theResultIsAFailure_andTheChainStops() {
    SchedulingResult result =
        run(
            SchedulerProfile.named("p")
                .filter(filter(endpoints -> List.of()))
                .filter(
                    filter(
                        endpoints -> {
                          throw new AssertionError("asked about no endpoint");
                        }))
                .picker(new MaxScorePicker()));

    assertThat(result.failure()).isEqualTo("no endpoint is available");
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            run_scheduler_profile {error.type=no_endpoints} ERROR
              filter_endpoints {llm_d.epp.filter.filtered_endpoints=0}
            """);
  }

  @Test
  void aPickerThatThrows_isReplacedByTheBestScore() {
    SchedulingResult result =
        run(SchedulerProfile.named("p").scorer(giving("one", 0, 0, 1)).picker(brokenPicker()));

    assertThat(result.target()).hasToString("ns/c");
    assertThat(assertThatSpans(tracing.spans()).span("pick_endpoints").isError()).isTrue();
  }

  @Test
  void aDeciderThatThrows_costsThePrefillOnly() {
    Decider broken =
        (cycle, decode) -> {
          throw new IllegalStateException();
        };
    Scheduler scheduler =
        Scheduler.builder(new PdProfileHandler(broken))
            .tracing(spans)
            .profile(SchedulerProfile.named("decode").picker(new MaxScorePicker()))
            .profile(SchedulerProfile.named("prefill").picker(new MaxScorePicker()))
            .build();

    assertThat(scheduled(scheduler).target()).isNotNull();
    assertThat(
            tracing.spans().stream()
                .filter(span -> span.name().equals("pick_pd_profile"))
                .map(SpanRecord::isError))
        .containsExactly(false, true);
  }

  @Test
  void aPreRequestThatThrows_doesNotStopTheOthers() {
    Scheduler scheduler =
        single(scoring())
            .preRequest(
                preRequest(
                    headers -> {
                      throw new IllegalStateException();
                    }))
            .preRequest(preRequest(headers -> headers.set("x-works", "yes")))
            .build();
    Map<String, String> headers = new HashMap<>();
    scheduler.prepare(scheduled(scheduler), PreRequest.Headers.of(headers));

    assertThat(headers).containsEntry("x-works", "yes");
  }

  @Test
  void aHandlerThatNeverHasEnough_comesToAnEnd() {
    Scheduler scheduler = Scheduler.builder(greedyHandler()).profile(scoring()).build();
    assertThat(scheduled(scheduler).target()).isNotNull();
  }

  @Test
  void mistakesOfConfiguration_areRefused() {
    SchedulerProfile profile = scoring();
    assertThatThrownBy(() -> Scheduler.builder(new SingleProfileHandler()).build())
        .hasMessage("the scheduler has no profile; add at least one");
    assertThatThrownBy(() -> single(profile).profile(profile))
        .hasMessage("two profiles have the name p; each needs its own name");
    assertThatThrownBy(() -> single(profile).timeout(Duration.ZERO))
        .hasMessageContaining("is PT0S, but must be above 0");
    assertThatThrownBy(() -> SchedulerProfile.named("p").scorer(giving("s"), Double.NaN))
        .hasMessage(
            "the weight of scorer s in profile p is NaN, but must be a number of 0 or more");
  }
}
