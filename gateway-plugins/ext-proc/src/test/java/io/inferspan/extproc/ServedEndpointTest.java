package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.epp.Endpoint;
import io.inferspan.gateway.AttemptSpans;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.testing.SpanRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The endpoint that answered according to the gateway, which may differ from the first choice. */
final class ServedEndpointTest extends ExtProcFixture {

  private static final String HEADER = "x-conformance-test-served-endpoint";

  @Test
  void header_namesTheEndpointThatAnswered() throws Exception {
    ExtProcService service = service().servedEndpoint().build();
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX.tellingServed())) {
      assertThat(ask(rig, WHOLE).all(HEADER)).containsExactly("127.0.0.1:" + engine.port());
    }
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX)) {
      assertThat(ask(rig, WHOLE).all(HEADER))
          .containsExactly("fail: missing destination endpoint served metadata");
    }
  }

  @Test
  void clientsAreNotToldUnlessItIsAskedFor() throws Exception {
    try (ExtProcRig rig = new ExtProcRig(service().build(), DUPLEX.tellingServed())) {
      assertThat(ask(rig, WHOLE).all(HEADER)).isEmpty();
    }
  }

  @Test
  void spanOfTheCall_namesTheEndpointThatAnswered() throws Exception {
    GatewayTracing gateway =
        GatewayTracing.builder(Telemetry.using(tracing.openTelemetry()))
            .attemptSpans(AttemptSpans.ALWAYS)
            .build();
    Endpoint chosen = Endpoint.of("ns", "engine", "localhost", engine.port());
    ExtProcService service =
        ExtProcService.builder(gateway, ExtProcRig.scheduler(), () -> List.of(chosen)).build();
    try (ExtProcRig rig = new ExtProcRig(service, DUPLEX.tellingServed("127.0.0.1:9"))) {
      assertThat(ask(rig, WHOLE).status()).isEqualTo(200);
    }
    SpanRecord attempt =
        tracing.awaitSpans(2, SOON).stream()
            .filter(span -> span.name().equals("gateway.attempt"))
            .findFirst()
            .orElseThrow();
    assertThat(attempt.attribute("server.address")).isEqualTo("127.0.0.1");
    assertThat(attempt.attribute("server.port")).isEqualTo(9L);
  }
}
