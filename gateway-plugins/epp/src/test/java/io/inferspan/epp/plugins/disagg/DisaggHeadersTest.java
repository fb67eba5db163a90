package io.inferspan.epp.plugins.disagg;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.PreRequest.Headers;
import io.inferspan.epp.SchedulingResult;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DisaggHeadersTest {

  private static Map<String, String> prepared(SchedulingResult result) {
    Map<String, String> headers =
        new HashMap<>(
            Map.of(
                "X-Prefiller-Host-Port", "evil:1",
                "x-encoder-hosts-ports", "evil:2",
                "X-Gateway-Destination-Endpoint", "evil:3",
                "x-kv-cache-source-host-port", "evil:4",
                "x-data-parallel-host-port", "evil:5",
                "accept", "*/*"));
    new DisaggHeaders().prepare(result, Headers.of(headers));
    headers.remove("accept");
    return headers;
  }

  @Test
  void allStages_getTheirHeaders() {
    SchedulingResult result =
        SchedulingResult.to(Fleet.cycle(), Fleet.pods(1))
            .withStages(List.of(Fleet.pod(1), Fleet.pod(4)), List.of(Fleet.pod(2), Fleet.pod(3)));
    assertThat(prepared(result))
        .isEqualTo(
            Map.of(
                "x-gateway-destination-endpoint", "10.0.0.1:8000",
                "x-prefiller-host-port", "10.0.0.2:8000",
                "x-encoder-hosts-ports", "10.0.0.3:8000,10.0.0.4:8000"));
  }

  @Test
  void routingHeadersOfTheClient_areRemoved() {
    assertThat(prepared(SchedulingResult.to(Fleet.cycle(), Fleet.pods(1))))
        .isEqualTo(Map.of("x-gateway-destination-endpoint", "10.0.0.1:8000"));
    assertThat(prepared(SchedulingResult.failed(Fleet.cycle(), "none"))).isEmpty();
    assertThat(
            prepared(
                SchedulingResult.to(Fleet.cycle(), Fleet.pods(1)).withStages(List.of(), List.of())))
        .hasSize(1);
  }

  @Test
  void ipv6_isInBrackets() {
    Endpoint pod = Endpoint.of("ns", "p", "fd00::1", 9000);
    assertThat(prepared(SchedulingResult.to(Fleet.cycle(), List.of(pod))))
        .containsValue("[fd00::1]:9000");
  }
}
