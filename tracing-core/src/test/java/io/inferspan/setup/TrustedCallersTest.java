package io.inferspan.setup;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Continuing the traces of trusted callers, and the handling of others. */
class TrustedCallersTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";

  @RegisterExtension
  private final TracingExtension tracing =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOn())).build();

  private static TrustedCallers callers(String setting) {
    return TrustedCallers.of(new Settings(Map.of("inferspan.trusted.callers", setting)));
  }

  private static InetAddress address(String text) throws UnknownHostException {
    return InetAddress.getByName(text);
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8,10.255.0.1,true",
    "10.0.0.0/8,11.0.0.1,false",
    "192.168.5.128/25,192.168.5.129,true",
    "192.168.5.128/25,192.168.5.127,false",
    "0.0.0.0/0,8.8.8.8,true",
    "0.0.0.0/0,::1,false",
    "fd00::/8,fdff::1,true",
    "fd00::/8,fe80::1,false",
    "127.0.0.1,127.0.0.1,true",
    "127.0.0.1,127.0.0.2,false",
    "'10.0.0.0/8, ::1',::1,true",
    "none,127.0.0.1,false",
    "all,8.8.8.8,true",
  })
  void caller_isTrustedIfItsAddressIsInANetwork(String setting, String peer, boolean trusted)
      throws UnknownHostException {
    assertThat(callers(setting).contains(address(peer))).isEqualTo(trusted);
  }

  @Test
  void callerWithoutAddress_isTrustedOnlyIfAllAre() {
    assertThat(callers("10.0.0.0/8").contains(null)).isFalse();
    assertThat(callers("all").contains(null)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "everybody",
        "10.0.0.0/33",
        "10.0.0/8",
        "256.0.0.1",
        "10.0.0.0/",
        "10.0.0.0/-1",
        "fd00::/129",
        "10.0.0.0/8,localhost",
        "1.2.3.4.",
        "::g"
      })
  void malformedList_isRejectedAtStart(String setting) {
    assertThatThrownBy(() -> callers(setting))
        .hasMessage(
            "INFERSPAN_TRUSTED_CALLERS is '"
                + setting
                + "', but must be 'all', 'none', or networks such as '10.0.0.0/8,fd00::/8'");
  }

  private Telemetry trustingTen() {
    return Telemetry.using(
        tracing.openTelemetry(),
        TelemetryOptions.builder().setting("inferspan.trusted.callers", "10.0.0.0/8").build());
  }

  private SpanRecord spanOfCallFrom(String peer, String flags) throws UnknownHostException {
    Map<String, String> headers = new HashMap<>();
    headers.put("traceparent", "00-" + TRACE + "-" + SPAN + "-" + flags);
    InetAddress from = address(peer);
    Telemetry telemetry = trustingTen();
    Context caller = telemetry.extract(headers, HEADERS, any -> from);
    try (OperationSpan request = telemetry.span(GatewaySpans.REQUEST, caller).start();
        OperationSpan child = telemetry.span(GatewaySpans.ATTEMPT, request).start()) {
      telemetry.inject(child, headers, HEADERS);
    }
    SpanRecord child = tracing.spans().get(0);
    assertThat(child.links()).isEmpty();
    // Sampled; the id of a new trace is random as well.
    assertThat(headers.get("traceparent"))
        .matches("00-" + child.traceId() + "-" + child.spanId() + "-0[13]");
    return tracing.spans().get(1);
  }

  @Test
  void trustedCaller_isTheParent() throws Exception {
    SpanRecord span = spanOfCallFrom("10.1.2.3", "01");
    assertThat(span.traceId()).isEqualTo(TRACE);
    assertThat(span.parentSpanId()).isEqualTo(SPAN);
    assertThat(span.links()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"00", "01"})
  void untrustedCaller_isLinkedToANewTrace_withAnyFlag(String flags) throws Exception {
    SpanRecord span = spanOfCallFrom("11.1.2.3", flags);
    assertThat(span.isRoot()).isTrue();
    assertThat(span.traceId()).isNotEqualTo(TRACE);
    assertThat(span.links()).singleElement().returns(SPAN, SpanRecord.LinkRecord::spanId);
  }

  @Test
  void untrustedCallersFlag_isIgnored() throws Exception {
    TracingExtension off = TracingExtension.builder().sampler(Sampler.alwaysOff()).build();
    Telemetry telemetry =
        Telemetry.using(
            off.openTelemetry(),
            TelemetryOptions.builder().setting("inferspan.trusted.callers", "none").build());
    Map<String, String> headers = new HashMap<>();
    headers.put("traceparent", "00-" + TRACE + "-" + SPAN + "-01");
    Context caller = telemetry.extract(headers, HEADERS);
    try (OperationSpan request = telemetry.span(GatewaySpans.REQUEST, caller).start()) {
      telemetry.inject(request, headers, HEADERS);
    }
    assertThat(headers.get("traceparent")).doesNotContain(TRACE).endsWith("-02");
  }
}
