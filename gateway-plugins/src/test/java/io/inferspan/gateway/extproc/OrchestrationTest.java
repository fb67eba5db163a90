package io.inferspan.gateway.extproc;

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
import java.util.List;
import org.junit.jupiter.api.Test;

/** The trace of admission and scheduling behind Envoy, in either shape. */
final class OrchestrationTest extends ExtProcFixture {

  private int ask(SpanNaming naming, List<Endpoint> endpoints) throws Exception {
    Telemetry telemetry =
        Telemetry.using(
            tracing.openTelemetry(), TelemetryOptions.builder().spanNaming(naming).build());
    Scheduler scheduler =
        Scheduler.with(new SingleProfileHandler())
            .profile(SchedulerProfile.named("default").picker(new MaxScorePicker()))
            .preRequest(new DisaggHeaders())
            .tracing(new EppTracing(telemetry))
            .build();
    ExtProcService service =
        ExtProcService.with(GatewayTracing.of(telemetry), scheduler, () -> endpoints).build();
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      return ask(rig, WHOLE, "x-llm-d-model-name-rewrite: other").status();
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
