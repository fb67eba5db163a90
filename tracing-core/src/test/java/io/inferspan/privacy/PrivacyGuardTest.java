package io.inferspan.privacy;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys and value lengths that the guard allows, and its counts. */
class PrivacyGuardTest {

  private static final int MAX_CHARS = 4_096;
  private static final int MAX_ELEMENTS = 128;

  private final OtlpReceiver receiver = OtlpReceiver.start();

  @AfterEach
  void close() {
    receiver.close();
  }

  @Test
  void keysOfTheConventionsWithoutContent_areExported() {
    SpanRecord span =
        foreign(
            allowing(""),
            s ->
                s.setAttribute("http.request.method", "POST")
                    .setAttribute("http.response.status_code", 200)
                    .setAttribute("db.system.name", "redis")
                    .setAttribute("gen_ai.usage.input_tokens", 7)
                    .setAttribute("my.secret", "x"));

    assertThat(span.attributes())
        .containsOnlyKeys(
            "http.request.method",
            "http.response.status_code",
            "db.system.name",
            "gen_ai.usage.input_tokens");
  }

  @Test
  void allowedPrefix_exportsAKey() {
    SpanRecord span =
        foreign(
            allowing("app., tenant.id"),
            s ->
                s.setAttribute("app.shard", "7")
                    .setAttribute("tenant.id", "t")
                    .setAttribute("application", "x")
                    .setAttribute("other.app.shard", "x"));

    assertThat(span.attributes()).isEqualTo(Map.of("app.shard", "7", "tenant.id", "t"));
  }

  /** Tests keys of OpenTelemetry's conventions, OpenInference, OpenLLMetry and Langfuse. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.retrieval.documents",
        "gen_ai.retrieval.query.text",
        "gen_ai.evaluation.explanation",
        "gen_ai.prompt",
        "gen_ai.prompt.0.content",
        "gen_ai.completion",
        "gen_ai.completion.0.content",
        "gen_ai.request.stop_sequences",
        "llm.prompts",
        "llm.prompts.0.content",
        "llm.completions",
        "llm.input_messages.0.message.content",
        "llm.output_messages.0.message.contents.0.message_content.text",
        "llm.prompt_template.variables",
        "llm.choices",
        "input.value",
        "output.value",
        "embedding.text",
        "embedding.embeddings.0.embedding.text",
        "embedding.embeddings.0.embedding.vector",
        "document.content",
        "reranker.query",
        "reranker.input_documents.0.document.content",
        "retrieval.documents.0.document.content",
        "message.content",
        "message.contents.0.message_content.text",
        "message_content.text",
        "tool.parameters",
        "tool_call.function.arguments",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "langfuse.observation.input",
        "langfuse.observation.output",
        "langfuse.trace.input",
        "langfuse.trace.output",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.text",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "url.full",
        "url.query",
        "http.request.header.authorization",
        "http.response.header.set-cookie",
        "http.url",
        "http.target",
        "db.statement",
        "db.query.text",
        "db.query.parameter.0",
        "exception.message",
        "messaging.message.body"
      })
  void contentKey_isNeverExported_evenIfAllowed(String key) {
    String family = key.substring(0, key.indexOf('.') + 1);
    SpanRecord span = foreign(allowing(key + "," + family), s -> s.setAttribute(key, "content"));

    assertThat(span.attributes()).isEmpty();
  }

  @Test
  void droppedKey_isCountedByName() {
    try (Telemetry telemetry = Telemetry.initTracing(allowing("").build())) {
      var registry = new SimpleMeterRegistry();
      telemetry.bindTo(registry);
      for (int i = 0; i < 3; i++) {
        Span span = telemetry.openTelemetry().getTracer("x").spanBuilder("y").startSpan();
        span.setAttribute("gen_ai.prompt", "p").setAttribute("note", "n").end();
      }
      assertThat(telemetry.flush(Duration.ofSeconds(20))).isTrue();

      Map<String, Double> dropped = new TreeMap<>();
      registry
          .get("inferspan.attributes.dropped")
          .functionCounters()
          .forEach(c -> dropped.put(String.valueOf(c.getId().getTag("key")), c.count()));
      assertThat(dropped).isEqualTo(Map.of("gen_ai.prompt", 3.0, "note", 3.0));
    }
  }

  @Test
  void keysAboveTheLimit_areCountedTogether() {
    AttributePolicy policy = new AttributePolicy(List.of());
    for (int i = 0; i < 1_000; i++) {
      policy.countDropped("key_" + i);
    }

    assertThat(policy.dropped()).hasSizeLessThanOrEqualTo(AttributePolicy.MAX_COUNTED_KEYS + 1);
    assertThat(policy.dropped().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(1_000);
    assertThat(policy.dropped("other")).isEqualTo(900);
  }

  @Test
  void longText_isTruncated() {
    String text = "x".repeat(100_000);
    SpanRecord own = own(s -> s.set(GenAiAttributes.REQUEST_MODEL, text));
    assertThat(own.attribute("gen_ai.request.model")).asString().hasSize(MAX_CHARS);

    receiver.clear();
    SpanRecord foreign = foreign(allowing("app."), s -> s.setAttribute("app.text", text));
    assertThat(foreign.attribute("app.text")).asString().hasSize(MAX_CHARS);
  }

  @Test
  void longText_isTruncated_withAnySettingOfTheSdk() {
    TelemetryOptions.Builder options =
        allowing("app.").setting("otel.attribute.value.length.limit", "1000000");
    SpanRecord span = foreign(options, s -> s.setAttribute("app.text", "x".repeat(100_000)));

    assertThat(span.attribute("app.text")).asString().hasSize(MAX_CHARS);
  }

  @Test
  void longList_isTruncated() {
    AttributeKey<List<String>> key = AttributeKey.stringArrayKey("app.list");
    List<String> many = Collections.nCopies(1_000, "x".repeat(10_000));
    SpanRecord span = foreign(allowing("app."), s -> s.setAttribute(key, many));

    assertThat((List<?>) span.attribute("app.list"))
        .hasSize(MAX_ELEMENTS)
        .allMatch(element -> ((String) element).length() == MAX_CHARS);
  }

  @Test
  void manyAttributes_areLimited() {
    SpanRecord span =
        foreign(
            allowing("app."),
            s -> IntStream.range(0, 1_000).forEach(i -> s.setAttribute("app." + i, i)));

    assertThat(span.attributes()).hasSizeLessThanOrEqualTo(128);
  }

  @Test
  void foreignName_isTruncated() {
    SpanRecord span = foreign(allowing(""), s -> s.updateName("n".repeat(10_000)));

    assertThat(span.name()).hasSizeLessThanOrEqualTo(PrivacyGuard.MAX_FOREIGN_NAME_CHARS);
  }

  @Test
  void exceptionEvent_keepsTypeAndFramesWithoutMessage() {
    SpanRecord span =
        foreign(allowing(""), s -> s.recordException(new IllegalStateException("secret")));

    SpanRecord.EventRecord event = span.events().get(0);
    assertThat(event.name()).isEqualTo("exception");
    assertThat(event.attributes())
        .containsEntry("exception.type", "java.lang.IllegalStateException")
        .doesNotContainKey("exception.message");
    assertThat(event.attributes().get("exception.stacktrace"))
        .asString()
        .startsWith("java.lang.IllegalStateException\n")
        .contains("\tat io.inferspan.privacy.PrivacyGuardTest.")
        .doesNotContain("secret");
  }

  @Test
  void exceptionMessages_areExported_ifTheSettingAllowsThem() {
    SpanRecord span =
        foreign(
            allowing("").setting("inferspan.exception.messages", "true"),
            s -> s.recordException(new IllegalStateException("allowed")));

    assertThat(span.events().get(0).attributes())
        .containsEntry("exception.message", "allowed")
        .containsKey("exception.stacktrace");
  }

  @Test
  void messageThatOneInstanceExports_isNotAllowedByOthers() {
    RuntimeException failure = new IllegalStateException("said to one telemetry only");
    TelemetryOptions.Builder open = allowing("").setting("inferspan.exception.messages", "true");
    try (Telemetry telemetry = Telemetry.initTracing(open.build())) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().fail(failure).close();
    }

    assertThat(receiver.spans().get(0).statusDescription()).isEqualTo(failure.toString());
    assertThat(FailureTexts.isKnown(failure.toString())).isFalse();
  }

  private TelemetryOptions.Builder allowing(String prefixes) {
    return TestOptions.exportingTo(receiver).setting("inferspan.attributes.allow", prefixes);
  }

  private SpanRecord foreign(TelemetryOptions.Builder options, Consumer<Span> writer) {
    try (Telemetry telemetry = Telemetry.initTracing(options.build())) {
      Span span = telemetry.openTelemetry().getTracer("foreign").spanBuilder("work").startSpan();
      writer.accept(span);
      span.end();
    }
    return receiver.spans().get(0);
  }

  private SpanRecord own(Consumer<OperationSpan> writer) {
    try (Telemetry telemetry = Telemetry.initTracing(allowing("").build());
        var span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      writer.accept(span);
    }
    return receiver.spans().get(0);
  }
}
