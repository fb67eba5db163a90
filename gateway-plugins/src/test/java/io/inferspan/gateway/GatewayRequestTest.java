package io.inferspan.gateway;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.propagation.HeaderMap;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One request, driven by direct calls with a fixed clock. */
final class GatewayRequestTest {

  private static final String TOKEN = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
  private static final String STREAM = "text/event-stream";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final AtomicLong nanos = new AtomicLong(1_000_000);
  private final GatewayTracing gateway = build(AttemptSpans.ON_RETRY);

  private GatewayTracing build(AttemptSpans spans) {
    return GatewayTracing.builder(Telemetry.using(tracing.openTelemetry()))
        .clock(nanos::get)
        .attemptSpans(spans)
        .build();
  }

  private void pass(long millis) {
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private SpanRecord only() {
    assertThat(tracing.spans()).hasSize(1);
    return tracing.spans().get(0);
  }

  @Test
  void parts_addUpHoweverOftenAnEngineIsTried() {
    GatewayRequest request = gateway.begin(TestExchange.chat());
    pass(1);
    request.queued();
    pass(20);
    request.dequeued();
    pass(3);
    UpstreamAttempt first = request.attempt("a:1");
    pass(4);
    first.fail("connection_refused");
    pass(5);
    UpstreamAttempt second = request.attempt("b:2");
    pass(6);
    second.connected();
    pass(7);
    second.responseHead(200, STREAM, null);
    pass(8);
    second.see(bytes("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"));
    pass(9);
    second.see(bytes(TOKEN));
    pass(100);
    second.end();
    request.status(200);
    request.end();

    assertThatSpans(tracing.spans())
        .hasTree(
            """
            gateway.request {inferspan.gateway.queue_ms=20.0, inferspan.gateway.schedule_ms=9.0, \
            inferspan.gateway.upstream_connect_ms=10.0, \
            inferspan.gateway.upstream_first_token_ms=24.0, inferspan.gateway.rest_ms=100.0, \
            inferspan.gateway.total_ms=163.0, inferspan.response.first_token_ms=63.0, \
            inferspan.gateway.attempts=2}
              gateway.attempt {server.address=a, server.port=1, error.type=connection_refused} ERROR
              gateway.attempt {server.address=b, server.port=2, http.response.status_code=200}
            """);
  }

  @Test
  void everyAttempt_hasTheUsageOfItsOwnAnswer() {
    GatewayRequest request = build(AttemptSpans.ALWAYS).begin(TestExchange.chat());
    UpstreamAttempt first = request.attempt("a:1");
    first.responseHead(200, STREAM, null);
    first.see(bytes(TOKEN + TOKEN));
    first.fail("connection_reset");
    UpstreamAttempt second = request.attempt("b:2");
    second.responseHead(200, STREAM, null);
    second.see(
        bytes(TOKEN + "data: {\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n"));
    second.end();
    request.status(200);
    request.end();
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            gateway.request {gen_ai.usage.prompt_tokens=9, server.address=b, server.port=2}
              gateway.attempt {gen_ai.usage.completion_tokens=2, server.address=a} ERROR
              gateway.attempt {gen_ai.usage.prompt_tokens=9, gen_ai.usage.completion_tokens=1}
            """);
  }

  @Test
  void serverSpanOfAnotherInstrumentation_isTheParent() {
    Span server = tracing.openTelemetry().getTracer("agent").spanBuilder("POST /").startSpan();
    TestExchange exchange =
        TestExchange.chat("traceparent", "00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01");
    gateway.begin(exchange, Context.root().with(server)).end();
    gateway.begin(exchange, Context.root()).end();
    server.end();

    assertThat(tracing.spans())
        .filteredOn(span -> span.name().equals("gateway.request"))
        .extracting(SpanRecord::parentSpanId)
        .containsExactly(server.getSpanContext().getSpanId(), "b".repeat(16));
  }

  @Test
  void oneAttempt_leavesTheTreeAsItIs() {
    GatewayRequest request = gateway.begin(TestExchange.chat());
    UpstreamAttempt attempt = request.attempt("a:1");
    Map<String, String> headers = new HashMap<>();
    attempt.inject(headers, HeaderMap.HEADERS);
    attempt.responseHead(200, "application/json", null);
    attempt.end();
    request.status(200);
    request.end();
    assertThat(headers.get("traceparent")).contains(only().spanId());
  }

  @Test
  void everyAttempt_hasASpan_ifConfigured() {
    GatewayRequest request = build(AttemptSpans.ALWAYS).begin(TestExchange.chat());
    UpstreamAttempt attempt = request.attempt("[::1]:8000");
    Map<String, String> headers = new HashMap<>();
    attempt.inject(headers, HeaderMap.HEADERS);
    attempt.end();
    request.end();
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            gateway.request
              gateway.attempt [CLIENT] {server.address=::1, server.port=8000}
            """);
    assertThat(headers.get("traceparent")).contains(tracing.spans().get(0).spanId());
  }

  @Test
  void openAttempts_endWithTheirRequest() {
    GatewayRequest request = build(AttemptSpans.ALWAYS).begin(TestExchange.chat());
    UpstreamAttempt attempt = request.attempt("a:1");
    request.timedOut();
    attempt.end();
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            gateway.request {error.type=timeout} ERROR
              gateway.attempt {error.type=timeout} ERROR
            """);
  }

  @Test
  void callsAfterTheEnd_areIgnored() {
    GatewayRequest request = build(AttemptSpans.ALWAYS).begin(TestExchange.chat());
    request.status(200);
    request.end();
    request.fail(new IllegalStateException("late"));
    request.clientGone();
    request.requestBody(bytes("{\"model\":\"late\"}"));
    request.responseHead(500, STREAM, null);
    request.see(bytes(TOKEN));
    UpstreamAttempt late = request.attempt("a:1");
    late.connected();
    late.responseHead(500, STREAM, null);
    late.see(bytes(TOKEN));
    late.fail("late");
    assertThat(only().isError()).isFalse();
    assertThat(only().attribute("http.response.status_code")).isEqualTo(200L);
    assertThat(late.context()).isEqualTo(request.context());
  }

  @Test
  void ends_areOneOnManyThreads() throws Exception {
    for (int round = 0; round < 200; round++) {
      tracing.clear();
      GatewayRequest request = gateway.begin(TestExchange.chat());
      request.responseHead(200, STREAM, null);
      CountDownLatch go = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      List<Runnable> all =
          List.of(
              request::end,
              request::clientGone,
              request::timedOut,
              () -> request.see(bytes(TOKEN)),
              () -> request.attempt("a:1").end());
      for (Runnable one : all) {
        Thread thread = new Thread(() -> released(go, one));
        thread.start();
        threads.add(thread);
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      only();
    }
  }

  private static void released(CountDownLatch go, Runnable work) {
    try {
      go.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    work.run();
  }

  @Test
  void failure_isNamedWithoutItsMessage() {
    gateway.begin(TestExchange.chat()).fail(new IllegalStateException("my secret prompt"));
    assertThat(only().isError()).isTrue();
    assertThat(only().attribute("error.type")).isEqualTo("java.lang.IllegalStateException");
    assertThat(only().toString()).doesNotContain("secret prompt");
  }

  @Test
  void clientError_isNoErrorOfTheServer() {
    GatewayRequest request = gateway.begin(TestExchange.chat());
    request.status(429);
    request.end();
    assertThat(only().isError()).isFalse();
  }

  @Test
  void badGateway_hasTheErrorTypeOfTheAttempt() {
    GatewayRequest request = gateway.begin(TestExchange.chat());
    request.attempt("a:1").fail("connection_refused");
    request.status(502);
    request.end();
    assertThat(only().attribute("error.type")).isEqualTo("connection_refused");
    assertThat(only().attribute("http.response.status_code")).isEqualTo(502L);
  }

  @Test
  void attemptThatTimedOut_timesTheRequestOut_withTheResponseStatus() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    GatewayRequest request =
        GatewayTracing.builder(Telemetry.using(tracing.openTelemetry()))
            .meters(registry)
            .build()
            .begin(TestExchange.chat());
    request.attempt("a:1").timedOut();
    request.status(504);
    request.end();
    assertThat(only().attribute("error.type")).isEqualTo("timeout");
    assertThat(only().attribute("http.response.status_code")).isEqualTo(504L);
    assertThat(registry.get("gen_ai.server.request.duration").timer().getId().getTag("outcome"))
        .isEqualTo("timeout");
  }

  @Test
  void model_isServedOnceAnEngineHasAnsweredForIt() {
    GatewayTracing counting =
        GatewayTracing.builder(Telemetry.using(OpenTelemetry.noop()))
            .meters(new SimpleMeterRegistry())
            .build();
    GatewayRequest failing = counting.begin(TestExchange.chat()).model("m");
    failing.status(503);
    failing.end();
    assertThat(counting.hasServed("m")).isFalse();
    GatewayRequest request = counting.begin(TestExchange.chat()).model("m");
    request.status(200);
    request.end();
    assertThat(counting.hasServed("m")).isTrue();
    assertThat(gateway.hasServed("m")).isFalse();
  }

  @Test
  void answerOfTheGatewayItself_isSeen() {
    GatewayRequest request = gateway.begin(TestExchange.chat());
    request.responseHead(200, "application/json", null);
    pass(2);
    request.see(bytes("{\"model\":\"m\",\"usage\":{\"completion_tokens\":3}}"));
    pass(5);
    request.end();
    assertThat(only().attribute("gen_ai.usage.completion_tokens")).isEqualTo(3L);
    assertThat(only().attribute("inferspan.gateway.rest_ms")).isEqualTo(5.0);
  }

  @Test
  void paths_areKnownWhereverTheyHang() {
    Map<String, String> routes =
        Map.of(
            "/v1/chat/completions", "/v1/chat/completions",
            "/openai/v1/chat/completions?beta=1", "/v1/chat/completions",
            "/v1/completions", "/v1/completions",
            "/v1/messages", "/v1/messages",
            "/v1/responses", "/v1/responses",
            "/v1/embeddings", "/v1/embeddings");
    routes.forEach(
        (path, route) -> {
          tracing.clear();
          gateway.begin(TestExchange.post(path)).end();
          assertThat(only().attribute("http.route")).isEqualTo(route);
        });
    tracing.clear();
    gateway.begin(TestExchange.post("/secret/path?token=1")).end();
    assertThat(only().toString()).doesNotContain("secret").doesNotContain("token=1");
  }

  @Test
  void tracingThatIsOff_looksAtNothing() {
    GatewayTracing off = GatewayTracing.create(Telemetry.using(OpenTelemetry.noop()));
    GatewayRequest request = off.begin(TestExchange.chat());
    assertThat(request.watched()).isFalse();
    request.requestBody(ByteBuffer.allocate(1));
    UpstreamAttempt attempt = request.attempt("a:1");
    attempt.responseHead(200, STREAM, null);
    attempt.see(bytes(TOKEN));
    request.end();
    assertThat(tracing.spans()).isEmpty();
  }

  @Test
  void unwatchedRequest_isAskedForItsTraceAndIdAlone() {
    GatewayTracing unclocked =
        GatewayTracing.builder(Telemetry.using(OpenTelemetry.noop()))
            .clock(
                () -> {
                  throw new AssertionError("unexpected clock access");
                })
            .build();
    Set<String> asked = new TreeSet<>();
    GatewayRequest request = unclocked.begin(new Asked(asked));
    request.model("m").stream(true).maxTokens(1).status(200);
    request.queued();
    request.attempt("a:1").connected();
    request.end();
    assertThat(asked).isSubsetOf("traceparent", "tracestate", "baggage", "x-request-id");
  }

  /** An exchange that records which properties were read. */
  private record Asked(Set<String> what) implements GatewayExchange {

    @Override
    public String method() {
      what.add("method");
      return "POST";
    }

    @Override
    public String path() {
      what.add("path");
      return "/";
    }

    @Override
    public @Nullable String header(String name) {
      what.add(name);
      return null;
    }
  }

  @Test
  void tenantAndId_areTakenFromTheHeaders() {
    gateway
        .begin(
            TestExchange.chat("x-request-id", "r-7", "x-gateway-inference-fairness-id", "tenant-1"))
        .end();
    assertThat(only().attribute("gen_ai.request.id")).isEqualTo("r-7");
    assertThat(only().attribute("llm_d.epp.fairness.id")).isEqualTo("tenant-1");
    assertThat(only().attribute("llm_d.epp.fairness.source")).isEqualTo("header");
  }
}
