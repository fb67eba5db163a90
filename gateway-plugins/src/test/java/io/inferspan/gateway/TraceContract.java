package io.inferspan.gateway;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.gateway.Wire.Message;
import io.inferspan.gateway.metrics.CurrentSpanExemplars;
import io.inferspan.testing.Canary;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of every adapter for traces and responses; see {@link GatewayContract}. */
public abstract class TraceContract {

  protected static final Duration SOON = Duration.ofSeconds(10);
  protected static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  protected static final String SAMPLED = "00-" + TRACE + "-b7ad6b7169203331-01";
  protected static final String UNSAMPLED = "00-" + TRACE + "-b7ad6b7169203331-00";
  protected static final String STREAM =
      """
      {"messages":[{"role":"user","content":"one two \\"three\\""}],"model":"tiny",\
      "stream":true,"stream_options":{"include_usage":true},"max_tokens":64}\
      """;
  protected static final String WHOLE =
      "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"one two\"}]}";

  @RegisterExtension
  protected final TracingExtension tracing =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOn())).build();

  protected final FakeEngine engine = FakeEngine.start();
  protected final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(
          PrometheusConfig.DEFAULT,
          new PrometheusRegistry(),
          Clock.SYSTEM,
          new CurrentSpanExemplars());

  /** Starts a gateway on a free loopback port, in front of the engine on another. */
  protected abstract GatewayRig start(GatewayTracing gateway, int enginePort) throws Exception;

  /**
   * Returns whether the adapter is notified that an engine broke off its response, after the bytes
   * received, and not only that the exchange has ended.
   */
  protected boolean seesWhoBreaksOff() {
    return true;
  }

  @AfterEach
  void stopEngine() {
    engine.close();
  }

  protected final GatewayTracing.Builder tracing() {
    return GatewayTracing.builder(Telemetry.using(tracing.openTelemetry()));
  }

  private GatewayRig start() throws Exception {
    return start(tracing().build(), engine.port());
  }

  protected final SpanRecord gatewaySpan() {
    return tracing.awaitSpans(1, SOON).stream()
        .filter(span -> span.name().equals("gateway.request"))
        .findFirst()
        .orElseThrow();
  }

  protected static Message ask(GatewayRig gateway, String body, String... headers)
      throws IOException {
    try (Wire wire = new Wire(gateway.port())) {
      wire.send(Wire.chat(body, headers));
      return wire.read();
    }
  }

  @Test
  void incomingTrace_isContinuedAndOneTraceparentLeaves() throws Exception {
    try (GatewayRig gateway = start()) {
      Message answer =
          ask(gateway, STREAM, "TraceParent: " + SAMPLED, "tracestate: a=1", "tracestate: b=2");
      assertThat(answer.status()).isEqualTo(200);
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.traceId()).isEqualTo(TRACE);
    assertThat(span.parentSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(engine.requests().get(0).headers("traceparent"))
        .containsExactly("00-" + TRACE + "-" + span.spanId() + "-01");
    assertThat(engine.requests().get(0).headers("tracestate")).containsExactly("a=1,b=2");
  }

  private SpanRecord spanWhereTrusted(String callers) throws Exception {
    tracing.clear();
    Telemetry telemetry =
        Telemetry.using(
            tracing.openTelemetry(),
            TelemetryOptions.builder().setting("inferspan.trusted.callers", callers).build());
    try (GatewayRig gateway = start(GatewayTracing.create(telemetry), engine.port())) {
      ask(gateway, WHOLE, "traceparent: " + SAMPLED, "tracestate: a=1");
    }
    return gatewaySpan();
  }

  @Test
  void untrustedCallersTrace_isLinkedToANewOne() throws Exception {
    assertThat(spanWhereTrusted("127.0.0.0/8").traceId()).isEqualTo(TRACE);
    SpanRecord span = spanWhereTrusted("192.0.2.0/24");
    assertThat(span.isRoot()).isTrue();
    assertThat(span.links()).singleElement().returns(TRACE, SpanRecord.LinkRecord::traceId);
    assertThat(engine.requests().get(1).headers("traceparent"))
        .containsExactly("00-" + span.traceId() + "-" + span.spanId() + "-03");
    assertThat(engine.requests().get(1).headers("tracestate")).isEmpty();
  }

  @Test
  void requestWithoutTraceOrWithSeveral_sendsOneTraceparent() throws Exception {
    try (GatewayRig gateway = start()) {
      ask(gateway, WHOLE);
      ask(gateway, WHOLE, "traceparent: nonsense", "traceparent: 00-0-0-00", "tracestate: a=1");
    }
    tracing.awaitSpans(2, SOON);
    assertThat(engine.requests()).hasSize(2);
    assertThat(engine.requests())
        .allSatisfy(request -> assertThat(request.headers("traceparent")).hasSize(1))
        .allSatisfy(request -> assertThat(request.headers("tracestate")).isEmpty());
  }

  @Test
  void severalTraceparents_areRemoved_ifTheRequestIsNotTraced() throws Exception {
    try (GatewayRig off =
        start(GatewayTracing.create(Telemetry.using(OpenTelemetry.noop())), engine.port())) {
      String other = SAMPLED.replace("b7ad6b", "000000");
      ask(off, WHOLE, "traceparent: " + SAMPLED, "TraceParent: " + other, "tracestate: a=1");
      ask(off, WHOLE, "traceparent: " + SAMPLED, "tracestate: a=1", "tracestate: b=2");
    }
    assertThat(engine.requests().get(0).headers("traceparent")).isEmpty();
    assertThat(engine.requests().get(0).headers("tracestate")).isEmpty();
    assertThat(engine.requests().get(1).headers("traceparent")).containsExactly(SAMPLED);
    assertThat(String.join(",", engine.requests().get(1).headers("tracestate")))
        .isEqualTo("a=1,b=2");
  }

  @Test
  void unsampledTrace_passesWithNothingAdded() throws Exception {
    Message plain;
    try (GatewayRig off =
        start(GatewayTracing.create(Telemetry.using(OpenTelemetry.noop())), engine.port())) {
      plain = ask(off, WHOLE, "traceparent: " + UNSAMPLED);
    }
    try (GatewayRig gateway = start()) {
      Message answer = ask(gateway, WHOLE, "traceparent: " + UNSAMPLED);
      assertThat(answer.headers().keySet()).isEqualTo(plain.headers().keySet());
      assertThat(answer.status()).isEqualTo(200);
    }
    assertThat(tracing.spans()).isEmpty();
    assertThat(engine.requests())
        .hasSize(2)
        .allSatisfy(
            request -> assertThat(request.headers("traceparent")).containsExactly(UNSAMPLED));
    assertThat(engine.requests().get(1).headers().keySet())
        .isEqualTo(engine.requests().get(0).headers().keySet());
    assertThat(engine.requests().get(1).bodyText()).isEqualTo(WHOLE);
  }

  @Test
  void streamedAnswer_isDescribed() throws Exception {
    engine.script(EngineScript.builder().tokens(7).cachedTokens(2).build());
    try (GatewayRig gateway = start(tracing().meters(registry).build(), engine.port())) {
      ask(gateway, STREAM, "X-Request-Id: r-1");
    }
    assertThatSpans(List.of(gatewaySpan()))
        .hasTree(
            """
            gateway.request [SERVER] {http.request.method=POST, http.route=/v1/chat/completions, \
            http.response.status_code=200, gen_ai.operation.name=chat, gen_ai.request.model=tiny, \
            gen_ai.request.stream=true, gen_ai.request.max_tokens=64, gen_ai.request.id=r-1, \
            gen_ai.response.model=tiny, gen_ai.usage.prompt_tokens=3, \
            gen_ai.usage.completion_tokens=7, gen_ai.usage.cached_tokens=2, \
            inferspan.response.tokens=7, inferspan.response.complete=true, \
            server.address=127.0.0.1, server.port=*}
            """);
    assertFirstTokenCountedOnce(gatewaySpan());
  }

  private void assertFirstTokenCountedOnce(SpanRecord span) {
    String scrape = registry.scrape("application/openmetrics-text; version=1.0.0");
    assertThat(scrape.lines())
        .filteredOn(line -> line.startsWith("gen_ai_server_time_to_first_token_seconds_count"))
        .singleElement()
        .asString()
        .contains("gen_ai_request_model=\"tiny\"", "outcome=\"success\"", "} 1");
    assertThat(scrape.lines())
        .filteredOn(line -> line.startsWith("gen_ai_server_time_to_first_token_seconds_bucket"))
        .anyMatch(line -> line.contains("trace_id=\"" + span.traceId() + "\""));
  }

  @Test
  void requestId_isOneForTheClientTheSpanAndTheEngine() throws Exception {
    try (GatewayRig gateway = start()) {
      ask(gateway, WHOLE, "X-Request-ID: r-1");
      assertThat(gatewaySpan().attribute("gen_ai.request.id")).isEqualTo("r-1");
      tracing.clear();
      ask(gateway, WHOLE, "x-request-id: two words", "x-request-id: r-2");
      assertThat(gatewaySpan().attribute("gen_ai.request.id")).isEqualTo(requestIdAtTheEngine(1));
      ask(gateway, WHOLE, "traceparent: " + UNSAMPLED);
    }
    assertThat(requestIdAtTheEngine(0)).isEqualTo("r-1");
    assertThat(requestIdAtTheEngine(1)).hasSize(36);
    assertThat(requestIdAtTheEngine(2)).hasSize(36).isNotEqualTo(requestIdAtTheEngine(1));
  }

  private String requestIdAtTheEngine(int request) {
    List<String> ids = engine.requests().get(request).headers("x-request-id");
    assertThat(ids).hasSize(1);
    return ids.get(0);
  }

  @Test
  void engineThatIsSlowToBegin_isNoSlowConnection() throws Exception {
    engine.script(EngineScript.builder().slowHeaders(Duration.ofMillis(100)).build());
    try (GatewayRig gateway = start()) {
      ask(gateway, STREAM);
    }
    assertThat(millis(gatewaySpan(), "inferspan.gateway.upstream_first_token_ms"))
        .isGreaterThanOrEqualTo(100);
  }

  @Test
  void documentResponse_isDescribed() throws Exception {
    try (GatewayRig gateway = start()) {
      assertThat(ask(gateway, WHOLE).text()).contains("tok0 tok1");
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.attribute("gen_ai.usage.completion_tokens")).isEqualTo(5L);
    assertThat(span.attribute("gen_ai.response.finish_reasons")).isNotNull();
    assertThat(span.attribute("gen_ai.latency.time_to_first_token")).isNull();
    assertThat(span.isError()).isFalse();
  }

  protected static double millis(SpanRecord span, String key) {
    Object value = span.attribute(key);
    return value instanceof Double millis ? millis : Double.NaN;
  }

  @Test
  void clientThatLeaves_endsTheSpan() throws Exception {
    engine.script(EngineScript.builder().tokens(50).stallAfterTokens(3).build());
    try (GatewayRig gateway = start()) {
      try (Wire wire = new Wire(gateway.port())) {
        wire.send(Wire.chat(STREAM));
        wire.readUntil("tok2");
      }
      SpanRecord span = gatewaySpan();
      assertThat(span.isError()).isTrue();
      assertThat(span.attribute("error.type")).isEqualTo("client_disconnected");
      assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(3L);
      assertThat(span.attribute("gen_ai.usage.completion_tokens")).isEqualTo(3L);
      assertThat(span.attribute("inferspan.response.complete")).isEqualTo(false);
    }
  }

  @Test
  void clientThatLeavesBeforeAnyAnswer_endsTheSpan() throws Exception {
    engine.script(EngineScript.builder().slowHeaders(Duration.ofSeconds(30)).build());
    try (GatewayRig gateway = start()) {
      try (Wire wire = new Wire(gateway.port())) {
        wire.send(Wire.chat(STREAM));
        engine.awaitRequests(1, SOON);
      }
      assertThat(gatewaySpan().attribute("error.type")).isEqualTo("client_disconnected");
    }
  }

  @Test
  void malformedStream_passesAsItIs() throws Exception {
    engine.script(EngineScript.builder().tokens(5).garbageAfterTokens(2).build());
    try (GatewayRig gateway = start()) {
      Message answer = ask(gateway, STREAM);
      assertThat(answer.body()).contains((byte) 0xff, (byte) 0xfe);
      assertThat(answer.text()).endsWith("data: [DONE]\n\n");
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(5L);
    assertThat(span.isError()).isFalse();
  }

  @Test
  void errorStatus_isTheSpansError() throws Exception {
    engine.script(EngineScript.builder().failWith(503, "busy").build());
    try (GatewayRig gateway = start()) {
      assertThat(ask(gateway, STREAM).status()).isEqualTo(503);
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.isError()).isTrue();
    assertThat(span.attribute("error.type")).isEqualTo("503");
    assertThat(span.attribute("http.response.status_code")).isEqualTo(503L);
    assertThat(span.attribute("inferspan.gateway.upstream.status_code")).isEqualTo(503L);
  }

  @Test
  void errorInTheStream_isTheSpansError() throws Exception {
    engine.script(EngineScript.builder().errorEventAfterTokens(2, "out of memory").build());
    try (GatewayRig gateway = start()) {
      ask(gateway, STREAM);
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.isError()).isTrue();
    assertThat(span.toString()).doesNotContain("out of memory");
    assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(2L);
  }

  @Test
  void engineThatBreaksOff_isNotTheClientsFault() throws Exception {
    engine.script(EngineScript.builder().tokens(50).cutAfterTokens(3).build());
    try (GatewayRig gateway = start()) {
      assertThatThrownBy(() -> ask(gateway, STREAM)).isInstanceOf(IOException.class);
      SpanRecord span = gatewaySpan();
      assertThat(span.isError()).isTrue();
      if (seesWhoBreaksOff()) {
        assertThat(span.attribute("error.type")).isNotEqualTo("client_disconnected");
        assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(3L);
      }
    }
  }

  @Test
  void connectionThatIsNotKept_isNoDisconnect() throws Exception {
    try (GatewayRig gateway = start()) {
      assertThat(ask(gateway, STREAM, "Connection: close").text()).endsWith("[DONE]\n\n");
      assertThat(gatewaySpan().isError()).isFalse();
    }
  }

  @Test
  void engineThatIsNotThere_isTheSpansError() throws Exception {
    int port = engine.port();
    engine.close();
    try (GatewayRig gateway = start(tracing().build(), port)) {
      assertThat(ask(gateway, STREAM).status()).isBetween(500, 599);
    }
    SpanRecord span = gatewaySpan();
    assertThat(span.isError()).isTrue();
    assertThat(span.attribute("http.response.status_code")).isNotNull();
  }

  @Test
  void promptsAnswersAndSecrets_stayOut() throws Exception {
    Canary canary = Canary.random();
    String secret = canary.marker();
    engine.script(EngineScript.builder().content(secret + " " + secret).build());
    try (CapturedLog log = new CapturedLog();
        GatewayRig gateway = start(tracing().meters(registry).build(), engine.port())) {
      String body =
          """
          {"tools":[{"function":{"arguments":"%1$s"}}],"messages":[{"content":"%1$s"}],\
          "user":"%1$s","model":"tiny","stream":true}\
          """
              .formatted(secret);
      ask(
          gateway,
          body,
          "Authorization: Bearer " + secret,
          "Cookie: session=" + secret,
          "X-Api-Key: " + secret);
      gatewaySpan();
      canary.assertAbsentFrom(log.text().getBytes(StandardCharsets.UTF_8));
    }
    canary.assertAbsentFrom(
        tracing.spans().toString().getBytes(StandardCharsets.UTF_8),
        registry.scrape().getBytes(StandardCharsets.UTF_8));
  }
}
