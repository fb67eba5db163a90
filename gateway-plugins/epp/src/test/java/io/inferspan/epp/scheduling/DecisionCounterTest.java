package io.inferspan.epp.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.plugins.disagg.Decider;
import io.inferspan.epp.plugins.disagg.DisaggProfileHandler;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.filter.RoleFilter;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.context.Context;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class DecisionCounterTest {

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), Clock.SYSTEM);

  private final Set<String> served = new HashSet<>(Set.of("m"));

  private Scheduler scheduler(ProfileHandler handler) {
    return Scheduler.builder(handler)
        .profile(
            SchedulerProfile.named("decode")
                .filter(RoleFilter.decode())
                .picker(new MaxScorePicker()))
        .profile(
            SchedulerProfile.named("prefill")
                .filter(RoleFilter.prefill())
                .picker(new MaxScorePicker()))
        .meters(registry, served::contains)
        .build();
  }

  private static void schedule(Scheduler scheduler, String model, List<Endpoint> endpoints) {
    scheduler
        .schedule(InferenceRequest.to(model).build(), endpoints, Context.root())
        .toCompletableFuture()
        .join();
  }

  private List<String> scraped() {
    return registry
        .scrape()
        .lines()
        .filter(line -> line.startsWith("llm_d_epp_disagg_decision_total{"))
        .toList();
  }

  @Test
  void decisions_areCountedUnderLlmdsName() {
    Scheduler scheduler =
        scheduler(DisaggProfileHandler.builder().prefillDecider(Decider.always()).build());
    schedule(scheduler, "m", List.of(Fleet.pod(0, "decode"), Fleet.pod(1, "prefill")));
    schedule(scheduler, "m", List.of(Fleet.pod(0, "decode"), Fleet.pod(1, "prefill")));
    schedule(scheduler, "m", List.of(Fleet.pod(0, "decode")));
    schedule(scheduler, "m", List.of());

    String labels =
        "model_name=\"m\",plugin_name=\"disagg-profile-handler\","
            + "plugin_type=\"disagg-profile-handler\"";
    assertThat(scraped())
        .containsExactlyInAnyOrder(
            "llm_d_epp_disagg_decision_total{decision_type=\"prefill-decode\"," + labels + "} 2.0",
            "llm_d_epp_disagg_decision_total{decision_type=\"decode-only\"," + labels + "} 1.0");
  }

  @Test
  void modelsThatClientsMakeUp_takeNoTagFromThoseThatAreServed() {
    Scheduler scheduler = scheduler(DisaggProfileHandler.builder().build());
    List<Endpoint> pods = List.of(Fleet.pod(0, "decode"));
    for (int i = 0; i < 500; i++) {
      schedule(scheduler, "junk" + i, pods);
    }
    schedule(scheduler, "m", pods);
    assertThat(scraped())
        .hasSize(2)
        .anyMatch(line -> line.contains("model_name=\"m\"") && line.endsWith(" 1.0"))
        .anyMatch(line -> line.contains("model_name=\"other\"") && line.endsWith(" 500.0"));
  }

  @Test
  void modelsThatAreServed_haveNoEndOfTags() {
    Scheduler scheduler = scheduler(DisaggProfileHandler.builder().build());
    for (int i = 0; i < 500; i++) {
      served.add("m" + i);
      schedule(scheduler, "m" + i, List.of(Fleet.pod(0, "decode")));
    }
    served.add("x".repeat(5000));
    schedule(scheduler, "x".repeat(5000), List.of(Fleet.pod(0, "decode")));
    assertThat(scraped()).hasSize(65).anyMatch(line -> line.contains("\"other\""));
  }

  @Test
  void modelPredicateThatThrows_losesOnlyTheCount() {
    Scheduler scheduler =
        Scheduler.builder(DisaggProfileHandler.builder().build())
            .profile(SchedulerProfile.named("decode").picker(new MaxScorePicker()))
            .meters(
                registry,
                model -> {
                  throw new IllegalStateException();
                })
            .build();
    schedule(scheduler, "m", List.of(Fleet.pod(0, "decode")));
    assertThat(scraped()).isEmpty();
  }

  @Test
  void handlerThatDecidesNothing_isNotCounted() {
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(SchedulerProfile.named("p").picker(new MaxScorePicker()))
            .meters(registry, served::contains)
            .build();
    schedule(scheduler, "m", Fleet.pods(1));
    assertThat(scraped()).isEmpty();
  }
}
