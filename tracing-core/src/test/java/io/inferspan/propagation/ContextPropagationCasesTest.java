package io.inferspan.propagation;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** llm-d's tests of propagation, cases 12-14, with tracing on, off and unsampled. */
class ContextPropagationCasesTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN_ID = "b7ad6b7169203331";
  private static final String SAMPLED = "00-" + TRACE_ID + "-" + SPAN_ID + "-01";
  private static final String UNSAMPLED = "00-" + TRACE_ID + "-" + SPAN_ID + "-00";

  @ParameterizedTest
  @ValueSource(strings = {"traceparent", "Traceparent", "TRACEPARENT", "tRaCePaReNt"})
  void case12_traceparent_isExtractedInAnyCase(String name) {
    try (Telemetry telemetry = recording()) {
      SpanContext parent = contextOf(telemetry.extract(Map.of(name, SAMPLED), HEADERS));

      assertThat(parent.getTraceId()).isEqualTo(TRACE_ID);
      assertThat(parent.getSpanId()).isEqualTo(SPAN_ID);
      assertThat(parent.isRemote()).isTrue();
      assertThat(parent.isSampled()).isTrue();
    }
  }

  @Test
  void case12_noTraceparent_startsANewRoot() {
    try (Telemetry telemetry = recording()) {
      Context none = telemetry.extract(Map.of("x-request-id", "1"), HEADERS);
      assertThat(contextOf(none).isValid()).isFalse();

      SpanContext first = contextOf(telemetry.span(GatewaySpans.REQUEST, none).start().context());
      SpanContext second = contextOf(telemetry.span(GatewaySpans.REQUEST, none).start().context());
      assertThat(first.isValid()).isTrue();
      assertThat(first.getTraceId()).isNotEqualTo(second.getTraceId());
    }
  }

  @Test
  void case12_currentContextOfTheThread_isNotTheParent() {
    try (Telemetry telemetry = recording();
        OperationSpan other = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
        var scope = other.context().makeCurrent()) {
      assertThat(scope).isNotNull();
      assertThat(contextOf(telemetry.extract(Map.of(), HEADERS)).isValid()).isFalse();
    }
  }

  @Test
  void case13_outgoingHeaders_carryTheCurrentSpanInOneTraceparent() {
    try (Telemetry telemetry = recording()) {
      Map<String, String> headers = headers("Traceparent", SAMPLED, "X-Other", "kept");
      OperationSpan span = request(telemetry, headers);
      telemetry.inject(span, headers, HEADERS);

      SpanContext own = contextOf(span.context());
      assertThat(headers)
          .containsOnly(
              Map.entry("traceparent", "00-" + TRACE_ID + "-" + own.getSpanId() + "-01"),
              Map.entry("X-Other", "kept"));
      assertThat(own.getSpanId()).isNotEqualTo(SPAN_ID);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {SAMPLED, UNSAMPLED})
  void case13_tracingDisabled_forwardsTheClientsValue(String traceparent) {
    try (Telemetry telemetry = disabled()) {
      assertForwarded(telemetry, traceparent);
    }
  }

  @Test
  void case13_unsampled_forwardsTheClientsValue() {
    try (Telemetry telemetry = parentBased()) {
      assertForwarded(telemetry, UNSAMPLED);
    }
  }

  private static void assertForwarded(Telemetry telemetry, String traceparent) {
    Map<String, String> headers =
        headers("TraceParent", traceparent, "TraceState", "a=1,b=2", "Baggage", "k=v;p=1,l=w");
    OperationSpan span = request(telemetry, headers);
    OperationSpan child = telemetry.span(GatewaySpans.ORCHESTRATION, span).start();
    telemetry.inject(child, headers, HEADERS);

    assertThat(child.recording()).isFalse();
    assertThat(headers)
        .containsOnly(
            Map.entry("traceparent", traceparent),
            Map.entry("tracestate", "a=1,b=2"),
            Map.entry("baggage", "k=v;p=1,l=w"));
  }

  @Test
  void case13_tracingDisabledAndNoTraceparent_sendsNone() {
    try (Telemetry telemetry = disabled()) {
      Map<String, String> headers = headers("Baggage", "k=v");
      telemetry.inject(request(telemetry, headers), headers, HEADERS);

      assertThat(headers).containsOnly(Map.entry("baggage", "k=v"));
    }
  }

  @Test
  void case13_newRootThatIsNotSampled_stillSendsOneTraceparent() {
    try (Telemetry telemetry = parentBased()) {
      Map<String, String> headers = new HashMap<>();
      OperationSpan root = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
      telemetry.inject(root, headers, HEADERS);

      assertThat(root.recording()).isFalse();
      assertThat(headers).containsOnlyKeys("traceparent");
      assertThat(headers.get("traceparent")).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[02]");
      OperationSpan child = telemetry.span(GatewaySpans.ORCHESTRATION, root).start();
      Map<String, String> next = new HashMap<>();
      telemetry.inject(child, next, HEADERS);
      assertThat(next).isEqualTo(headers);
    }
  }

  @Test
  void case13_stateAndBaggage_arePropagatedWithARecordedSpan() {
    try (Telemetry telemetry = recording()) {
      Map<String, String> in =
          headers("traceparent", SAMPLED, "tracestate", "a=1,b=2", "baggage", "k=v");
      Map<String, String> out = new HashMap<>();
      telemetry.inject(request(telemetry, in), out, HEADERS);

      assertThat(out).containsEntry("tracestate", "a=1,b=2").containsEntry("baggage", "k=v");
    }
  }

  @Test
  void case13_addedBaggage_isPropagated() {
    try (Telemetry telemetry = recording()) {
      OperationSpan span = request(telemetry, headers("traceparent", SAMPLED));
      Map<String, String> out = new HashMap<>();
      Context context = span.context().with(Baggage.builder().put("tenant", "gold").build());
      telemetry.inject(context, out, HEADERS);

      assertThat(out).containsEntry("baggage", "tenant=gold").containsKey("traceparent");
    }
  }

  @Test
  void case14_proxiedRequestInsideASpan_carriesItsTraceparentOnce() throws Exception {
    CompletableFuture<List<String>> seen = new CompletableFuture<>();
    HttpServer upstream =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    upstream.createContext(
        "/",
        exchange -> {
          seen.complete(List.copyOf(exchange.getRequestHeaders().get("traceparent")));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    upstream.start();
    try (Telemetry telemetry = recording()) {
      OperationSpan request = request(telemetry, headers("traceparent", SAMPLED));
      OperationSpan call = telemetry.span(PdSpans.PREFILL, request).start();
      URI uri = URI.create("http://127.0.0.1:" + upstream.getAddress().getPort() + "/");
      HttpRequest.Builder proxied = HttpRequest.newBuilder(uri).header("Traceparent", SAMPLED);
      telemetry.inject(
          call, proxied, (to, name, value) -> requireNonNull(to).setHeader(name, value));
      HttpClient.newHttpClient().send(proxied.build(), HttpResponse.BodyHandlers.discarding());

      String own = contextOf(call.context()).getSpanId();
      assertThat(seen.get(10, TimeUnit.SECONDS))
          .containsExactly("00-" + TRACE_ID + "-" + own + "-01");
    } finally {
      upstream.stop(0);
    }
  }

  @Test
  void propagatorsNone_neitherExtractNorInject() {
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere().setting("otel.propagators", "none").build())) {
      Context context = telemetry.extract(headers("traceparent", SAMPLED), HEADERS);
      assertThat(contextOf(context).isValid()).isFalse();

      Map<String, String> out = new HashMap<>();
      telemetry.inject(telemetry.span(GatewaySpans.REQUEST, context).start(), out, HEADERS);
      assertThat(out).isEmpty();
    }
  }

  @Test
  void propagatorsBaggageOnly_leaveTheTraceAlone() {
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere().setting("otel.propagators", "baggage").build())) {
      Context context =
          telemetry.extract(headers("traceparent", SAMPLED, "baggage", "k=v"), HEADERS);
      assertThat(contextOf(context).isValid()).isFalse();

      Map<String, String> out = new HashMap<>();
      telemetry.inject(telemetry.span(GatewaySpans.REQUEST, context).start(), out, HEADERS);
      assertThat(out).containsOnly(Map.entry("baggage", "k=v"));
    }
  }

  @Test
  void unknownPropagator_isRejectedAtStartByName() {
    TelemetryOptions options =
        TestOptions.exportingNowhere().setting("otel.propagators", "tracecontext,b3x").build();

    assertThatThrownBy(() -> Telemetry.initTracing(options))
        .hasMessageContaining("b3x")
        .message()
        .doesNotContain("\n");
  }

  private static OperationSpan request(Telemetry telemetry, Map<String, String> headers) {
    return telemetry.span(GatewaySpans.REQUEST, telemetry.extract(headers, HEADERS)).start();
  }

  private static Telemetry recording() {
    return Telemetry.initTracing(TestOptions.exportingNowhere().build());
  }

  private static Telemetry parentBased() {
    return Telemetry.initTracing(
        TestOptions.exportingNowhere()
            .setting("otel.traces.sampler", "parentbased_always_off")
            .build());
  }

  private static Telemetry disabled() {
    return Telemetry.initTracing(
        TestOptions.exportingNowhere().setting("otel.sdk.disabled", "true").build());
  }

  private static SpanContext contextOf(Context context) {
    return Span.fromContext(context).getSpanContext();
  }

  private static Map<String, String> headers(String... namesAndValues) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      headers.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return headers;
  }
}
