package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.EngineClient.CHAT;
import static io.inferspan.testing.engine.EngineClient.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.net.Socket;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EngineTracingTest {
  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT_ID = "b7ad6b7169203331";
  private static final String TRACEPARENT = "00-" + TRACE_ID + "-" + PARENT_ID + "-01";

  private final KeptSpans spans = new KeptSpans();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(spans))
                  .build())
          .build();
  private final FakeEngine engine = FakeEngine.builder().openTelemetry(telemetry).start();

  @AfterEach
  void close() {
    engine.close();
    telemetry.close();
  }

  @Test
  void request_createsOneServerSpanUnderTheCallersSpan() throws Exception {
    EngineClient.post(
        engine, CHAT, "{}", "traceparent", TRACEPARENT, "tracestate", "a=1", "x-request-id", "r1");

    SpanData span = onlySpan();
    assertThat(span.getName()).isEqualTo("llm_request");
    assertThat(span.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(span.getInstrumentationScopeInfo().getName()).isEqualTo("vllm.llm_engine");
    assertThat(span.getTraceId()).isEqualTo(TRACE_ID);
    assertThat(span.getParentSpanId()).isEqualTo(PARENT_ID);
    assertThat(span.getParentSpanContext().isRemote()).isTrue();
    assertThat(span.getSpanContext().getTraceState().get("a")).isEqualTo("1");
    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(attributes(span)).containsEntry("gen_ai.request.id", "chatcmpl-r1");
  }

  @Test
  void attributes_areExactlyVllms() throws Exception {
    EngineClient.post(
        engine,
        CHAT,
        """
        {"model":"m","messages":[{"role":"user","content":"canary word"}],"max_tokens":3,
         "temperature":0.5,"top_p":0.25,"n":2}""");

    Map<String, Object> attributes = attributes(onlySpan());
    assertThat(attributes)
        .containsOnlyKeys(
            "gen_ai.latency.time_to_first_token",
            "gen_ai.latency.e2e",
            "gen_ai.latency.time_in_queue",
            "gen_ai.latency.time_in_model_prefill",
            "gen_ai.latency.time_in_model_decode",
            "gen_ai.latency.time_in_model_inference",
            "gen_ai.usage.prompt_tokens",
            "gen_ai.usage.completion_tokens",
            "gen_ai.request.id",
            "gen_ai.request.top_p",
            "gen_ai.request.max_tokens",
            "gen_ai.request.temperature",
            "gen_ai.request.n");
    assertThat(attributes)
        .containsEntry("gen_ai.usage.prompt_tokens", 2L)
        .containsEntry("gen_ai.usage.completion_tokens", 3L)
        .containsEntry("gen_ai.request.max_tokens", 3L)
        .containsEntry("gen_ai.request.top_p", 0.25)
        .containsEntry("gen_ai.request.temperature", 0.5)
        .containsEntry("gen_ai.request.n", 2L);
    assertThat(attributes.toString()).doesNotContain("canary", "tok0");
  }

  @Test
  void zeroParameters_areOmitted() throws Exception {
    EngineClient.post(engine, CHAT, "{\"temperature\":0}");

    assertThat(attributes(onlySpan()))
        .doesNotContainKeys("gen_ai.request.temperature", "gen_ai.request.max_tokens")
        .containsEntry("gen_ai.request.top_p", 1.0)
        .containsEntry("gen_ai.request.n", 1L);
  }

  @Test
  void latencies_areTheRequestsOwnInSeconds() throws Exception {
    engine.script(
        EngineScript.builder()
            .tokens(4)
            .queue(Duration.ofMillis(30))
            .prefill(Duration.ofMillis(20))
            .prefillPerToken(Duration.ofMillis(10))
            .betweenTokens(Duration.ofMillis(15))
            .build());
    EngineClient.post(engine, CHAT, "{\"stream\":true,\"prompt\":\"a b c\"}");

    SpanData span = onlySpan();
    double queue = seconds(span, "time_in_queue");
    double prefill = seconds(span, "time_in_model_prefill");
    double decode = seconds(span, "time_in_model_decode");
    double inference = seconds(span, "time_in_model_inference");
    double firstToken = seconds(span, "time_to_first_token");
    double whole = seconds(span, "e2e");
    assertThat(queue).isBetween(0.030, 2.0);
    assertThat(prefill).isBetween(0.050, 2.0);
    assertThat(decode).isBetween(0.045, 2.0);
    assertThat(inference).isCloseTo(prefill + decode, within());
    assertThat(firstToken).isBetween(queue + prefill, whole);
    assertThat(whole).isGreaterThanOrEqualTo(firstToken + decode - 1e-9);
    long epochNanos = engine.requests().get(0).arrivalEpochNanos();
    assertThat(span.getStartEpochNanos()).isEqualTo(epochNanos);
    assertThat((span.getEndEpochNanos() - epochNanos) / 1e9).isCloseTo(whole, within());
  }

  @Test
  void noContext_startsATrace() throws Exception {
    EngineClient.post(engine, CHAT, "{}", "traceparent", "junk");

    assertThat(onlySpan().getParentSpanContext().isValid()).isFalse();
  }

  @Test
  void incompleteRequests_createNoSpan() throws Exception {
    List<EngineScript> failing =
        List.of(
            EngineScript.builder().failWith(503, "no").build(),
            EngineScript.builder().cutAfterTokens(1).build(),
            EngineScript.builder().stallAfterTokens(1).build(),
            EngineScript.builder().errorEventAfterTokens(1, "no").build());
    for (EngineScript script : failing) {
      engine.enqueue(script);
      try (Socket socket = EngineClient.open(engine, CHAT, "{\"stream\":true}")) {
        EngineClient.readUntil(socket, "\r\n\r\n");
      }
      List<EngineRequest> seen = engine.requests();
      seen.get(seen.size() - 1).awaitEnd(LIMIT);
    }
    EngineClient.post(engine, CHAT, "{\"max_tokens\":0}");
    EngineClient.send(engine, "GET", "/health");

    assertThat(spans.kept).isEmpty();
    EngineClient.post(engine, CHAT, "{}");
    assertThat(spans.kept).hasSize(1);
  }

  private SpanData onlySpan() {
    assertThat(spans.kept).hasSize(1);
    return spans.kept.get(0);
  }

  private static double seconds(SpanData span, String latency) {
    Double value = span.getAttributes().get(AttributeKey.doubleKey("gen_ai.latency." + latency));
    assertThat(value).isNotNull();
    return value == null ? Double.NaN : value;
  }

  private static org.assertj.core.data.Offset<Double> within() {
    return org.assertj.core.data.Offset.offset(1e-6);
  }

  private static Map<String, Object> attributes(SpanData span) {
    return span.getAttributes().asMap().entrySet().stream()
        .collect(Collectors.toMap(entry -> entry.getKey().getKey(), Map.Entry::getValue));
  }

  /** Stores every exported span. */
  private static final class KeptSpans implements SpanExporter {
    private final List<SpanData> kept = new CopyOnWriteArrayList<>();

    @Override
    public CompletableResultCode export(Collection<SpanData> batch) {
      kept.addAll(batch);
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
