package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.tracecontext.TraceContextSuite;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The contract of every adapter for W3C Trace Context. A trace that is not sampled passes with its
 * parent unchanged, where the document's test suite wants a new one.
 */
public abstract class TraceContextContract extends TraceContract {

  @Test
  void requestsOfTheTestSuite_arriveWithTheRightHeaders() throws Exception {
    try (GatewayRig gateway = start(tracing().build(), engine.port())) {
      TraceContextSuite.check(gateway.port(), engine);
    }
  }

  @Test
  void randomFlag_passes() throws Exception {
    String ids = TRACE + "-b7ad6b7169203331";
    List<String> received = new ArrayList<>();
    try (GatewayRig gateway = start(tracing().build(), engine.port())) {
      for (String flags : List.of("02", "03")) {
        ask(gateway, WHOLE, "traceparent: 00-" + ids + "-" + flags);
        received.addAll(engine.requests().get(received.size()).headers("traceparent"));
      }
    }
    assertThat(received).hasSize(2);
    assertThat(received.get(0)).isEqualTo("00-" + ids + "-02");
    assertThat(received.get(1)).matches("00-" + TRACE + "-[0-9a-f]{16}-03");
  }
}
