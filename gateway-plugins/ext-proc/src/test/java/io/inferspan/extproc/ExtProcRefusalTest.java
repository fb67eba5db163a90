package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.inferspan.epp.Endpoint;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.gateway.Wire.Message;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests that the service refuses, and its responses. */
final class ExtProcRefusalTest extends ExtProcFixture {

  @Test
  void withoutEndpoints_theResponseIs503() throws Exception {
    for (Setup setup : List.of(DUPLEX, BUFFERED)) {
      tracing.clear();
      try (ExtProcRig rig = new ExtProcRig(serviceOver(List.of()).build(), setup)) {
        Message answer = ask(rig, WHOLE);
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.text()).contains("\"type\":\"service_unavailable\"");
        assertThat(answer.all("content-type")).containsExactly("application/json");
      }
      assertThat(span().attribute("error.type")).isEqualTo("503");
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void endpointSupplierThatThrows_leadsTo503() throws Exception {
    ExtProcService service =
        ExtProcService.builder(
                gateway(),
                ExtProcRig.scheduler(),
                () -> {
                  throw new IllegalStateException("no cluster");
                })
            .build();
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      assertThat(ask(rig, WHOLE).status()).isEqualTo(503);
    }
  }

  @Test
  void saturatedEndpoints_areAnswered429() throws Exception {
    Endpoint busy = endpoint().withMetrics(new Endpoint.Metrics(6, 8, 0.2, 0, 0));
    try (ExtProcRig rig =
        new ExtProcRig(
            serviceOver(List.of(busy)).admission(Admission.whileAnyHasRoom(5, 0.8)).build(),
            DUPLEX)) {
      Message answer = ask(rig, WHOLE);
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.all("x-llm-d-request-dropped-reason"))
          .containsExactly("rejected-saturated");
    }
    assertThat(span().attribute("http.response.status_code")).isEqualTo(429L);
    assertThat(engine.requests()).isEmpty();
  }

  @Test
  void bodyAboveTheBound_isAnswered413() throws Exception {
    String body = "{\"model\":\"tiny\",\"prompt\":\"" + "x".repeat(5000) + "\"}";
    for (Setup setup : List.of(DUPLEX, BUFFERED)) {
      try (ExtProcRig rig = new ExtProcRig(service().maxBodyBytes(4096).build(), setup)) {
        assertThat(ask(rig, body).status()).isEqualTo(413);
        assertThat(rig.service().heldBytes()).isZero();
      }
    }
    assertThat(engine.requests()).isEmpty();
  }

  @Test
  void bodyFarAboveTheLimit_isAnswered413_whenItsLengthIsDeclared() throws Exception {
    String body = "{\"model\":\"tiny\",\"prompt\":\"" + "x".repeat(3_000_000) + "\"}";
    for (Setup setup : List.of(DUPLEX, BUFFERED)) {
      tracing.clear();
      try (ExtProcRig rig = new ExtProcRig(service().maxBodyBytes(4096).build(), setup)) {
        assertThat(ask(rig, body).status()).isEqualTo(413);
        assertThat(rig.service().heldBytes()).isZero();
        assertThat(rig.envoy().failures()).isEmpty();
      }
      assertThat(span().attribute("http.response.status_code")).isEqualTo(413L);
    }
    assertThat(engine.requests()).isEmpty();
  }

  @Test
  void messageThatStillComes_isAnswered503AboveTheBoundOfAll() throws Exception {
    String body = "{\"model\":\"tiny\",\"prompt\":\"" + "x".repeat(3_000_000) + "\"}";
    try (ExtProcRig rig = new ExtProcRig(service().maxHeldBytes(1_000_000).build(), BUFFERED)) {
      assertThat(ask(rig, body).status()).isEqualTo(503);
      assertThat(rig.service().heldBytes()).isZero();
      assertThat(ask(rig, WHOLE).status()).isEqualTo(200);
    }
  }

  @Test
  void bodiesAboveTheBoundOfAll_areAnswered503() throws Exception {
    String body = "{\"model\":\"tiny\",\"prompt\":\"" + "x".repeat(5000) + "\"}";
    try (ExtProcRig rig = new ExtProcRig(service().maxHeldBytes(4096).build(), DUPLEX)) {
      assertThat(ask(rig, body).status()).isEqualTo(503);
      assertThat(rig.service().heldBytes()).isZero();
      assertThat(ask(rig, WHOLE).status()).isEqualTo(200);
    }
  }

  @Test
  void exchangeThatDoesNotBeginWithHeaders_isRefused() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      Exchanges.Outcome outcome =
          Exchanges.run(rig.envoy().processor(), List.of(Exchanges.requestBody("{}", true)));
      assertThat(outcome.failure())
          .hasMessageContaining("INVALID_ARGUMENT")
          .hasMessageContaining("the first message is not request headers");
    }
  }

  @Test
  void exchangeThatBeginsTwice_failsItsSpan() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      ProcessingRequest begin = Exchanges.requestHeaders(false);
      Exchanges.Outcome outcome = Exchanges.run(rig.envoy().processor(), List.of(begin, begin));
      assertThat(outcome.failure()).hasMessageContaining("request headers were sent a second time");
    }
    assertThat(span().attribute("error.type")).isEqualTo("grpc_status_3");
    assertThat(span().statusDescription())
        .isEqualTo("Envoy sent an invalid external processing message");
  }

  @Test
  void answerThatThereIsNoRoomFor_failsItsSpan_andEnvoyIsNotBlamed() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().maxHeldBytes(100_000).build(), DUPLEX)) {
      Exchanges.Outcome outcome =
          Exchanges.run(
              rig.envoy().processor(),
              List.of(
                  Exchanges.requestHeaders(false),
                  Exchanges.requestBody("{}", true),
                  Exchanges.responseHeaders(),
                  Exchanges.responseBody("x".repeat(300_000))));
      assertThat(outcome.failure()).hasMessageContaining("RESOURCE_EXHAUSTED");
    }
    assertThat(span().attribute("error.type")).isEqualTo("grpc_status_8");
    assertThat(span().statusDescription())
        .isEqualTo("Envoy's message exceeded the limit of held bytes");
  }

  @Test
  void otherPathsAndProtocols_areRefused() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX)) {
      assertThat(Exchanges.grpcStatusOfUnknownMethod(rig.envoy().channel()))
          .isEqualTo("UNIMPLEMENTED");
    }
  }

  @Test
  void settingsThatCannotBe_areRefused() {
    assertThatThrownBy(() -> service().maxBodyBytes(0)).hasMessageContaining("maxBodyBytes is 0");
    assertThatThrownBy(() -> service().maxHeldBytes(-1)).hasMessageContaining("maxHeldBytes is -1");
    assertThatThrownBy(() -> Admission.whileAnyHasRoom(-1, 0.5)).hasMessageContaining("-1");
    assertThatThrownBy(() -> Admission.whileAnyHasRoom(1, Double.NaN)).hasMessageContaining("NaN");
  }
}
