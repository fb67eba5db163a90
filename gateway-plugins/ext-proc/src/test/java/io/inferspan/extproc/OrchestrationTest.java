package io.inferspan.extproc;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.gateway.GatewayTracing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The trace of admission and scheduling behind Envoy, in either shape. */
final class OrchestrationTest extends ExtProcFixture {

  private int ask(SpanNaming naming, List<Endpoint> endpoints) throws Exception {
    return ask(naming, endpoints, tracing -> {});
  }

  private int ask(
      SpanNaming naming,
      List<Endpoint> endpoints,
      Consumer<GatewayTracing.Builder> settings,
      String... headers)
      throws Exception {
    Telemetry telemetry =
        Telemetry.using(
            tracing.openTelemetry(), TelemetryOptions.builder().spanNaming(naming).build());
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(SchedulerProfile.named("default").picker(new MaxScorePicker()))
            .preRequest(new DisaggHeaders())
            .tracing(EppTracing.create(telemetry))
            .build();
    GatewayTracing.Builder gateway = GatewayTracing.builder(telemetry);
    settings.accept(gateway);
    ExtProcService service =
        ExtProcService.builder(gateway.build(), scheduler, () -> endpoints).build();
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("x-llm-d-model-name-rewrite: other");
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      return ask(rig, WHOLE, all.toArray(String[]::new)).status();
    }
  }

  @Test
  void llmdsTree_hasItBetweenTheRequestAndThePlugins() throws Exception {
    assertThat(ask(SpanNaming.CURRENT, List.of(endpoint()))).isEqualTo(200);
    assertThatSpans(tracing.awaitSpans(7, SOON))
        .hasTree(
            """
            request [SERVER] {gen_ai.request.model=tiny}
              request_orchestration [SERVER] {target_model=other}
                run_scheduler_profile
                  filter_endpoints {gen_ai.request.model=other}
                  scoring
                  pick_endpoints
                prepare_disaggregation
            """);
  }

  @Test
  void proposalsTree_doesWithout() throws Exception {
    assertThat(ask(SpanNaming.PROPOSAL, List.of(endpoint()))).isEqualTo(200);
    assertThatSpans(tracing.awaitSpans(7, SOON))
        .hasTree(
            """
            llm_d.epp.startup
            gateway.request [SERVER]
              run_scheduler_profile
                filter_endpoints
                llm_d.epp.scoring
                pick_endpoints
              llm_d.epp.prerequest.pd_disaggregation
            """);
  }

  private @Nullable Object priority(Map<String, Long> known, String... headers) throws Exception {
    tracing.clear();
    ask(
        SpanNaming.CURRENT,
        List.of(endpoint()),
        gateway -> {
          if (!known.isEmpty()) {
            gateway.priorities(known);
          }
        },
        headers);
    return tracing.awaitSpans(7, SOON).stream()
        .filter(span -> span.name().equals("request_orchestration"))
        .findFirst()
        .orElseThrow()
        .attribute("request_prio");
  }

  @Test
  void priority_isThatOfTheObjective() throws Exception {
    Map<String, Long> known = Map.of("batch", -1L, "chat", 5L);
    assertThat(priority(known, "x-llm-d-inference-objective: batch")).isEqualTo(-1L);
    assertThat(
            priority(
                known, "x-gateway-inference-objective: batch", "x-llm-d-inference-objective: chat"))
        .isEqualTo(5L);
    assertThat(priority(known, "x-gateway-inference-objective: batch")).isEqualTo(-1L);
    assertThat(priority(known, "x-llm-d-inference-objective: unknown")).isEqualTo(0L);
    assertThat(priority(known)).isEqualTo(0L);
    assertThat(priority(Map.of(), "x-llm-d-inference-objective: batch")).isNull();
  }

  @Test
  void refusal_isItsError() throws Exception {
    assertThat(ask(SpanNaming.CURRENT, List.of())).isEqualTo(503);
    assertThat(tracing.awaitSpans(4, SOON))
        .filteredOn(span -> span.name().equals("request_orchestration"))
        .singleElement()
        .satisfies(
            span -> assertThat(span.attribute("error.type")).isEqualTo("service_unavailable"));
  }
}
