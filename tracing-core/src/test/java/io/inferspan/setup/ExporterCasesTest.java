package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.OperationSpan;
import io.inferspan.OtlpJsonLines;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.Warnings;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The second half of case 11, llm-d's tests of the exporter, with additions. */
class ExporterCasesTest {

  private static final String EXPORTER = "otel.traces.exporter";
  private static final String FILE = "inferspan.otlp.file.path";
  private static final String MAX_BYTES = "inferspan.otlp.file.max.bytes";
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir Path folder;
  private final OtlpReceiver receiver = OtlpReceiver.start();
  private Warnings warnings;

  @BeforeEach
  void collectWarnings() {
    warnings = Warnings.collect();
  }

  @AfterEach
  void close() {
    warnings.close();
    receiver.close();
  }

  @Test
  void case11_exporterNone_sendsNothingButSpansAreValidAndSampled() {
    SpanContext context = trace(TestOptions.exportingTo(receiver).setting(EXPORTER, "none"), 1);

    assertThat(context.isValid()).isTrue();
    assertThat(context.isSampled()).isTrue();
    assertThat(receiver.requestCount()).isZero();
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void case11_exporterNone_spansOfOtherInstrumentationAreValidAndSampledToo() {
    try (Telemetry telemetry =
        Telemetry.initTracing(TestOptions.tracingAll().setting(EXPORTER, "none").build())) {
      SpanContext context =
          telemetry
              .openTelemetry()
              .getTracer("other")
              .spanBuilder("root")
              .startSpan()
              .getSpanContext();

      assertThat(context.isValid()).isTrue();
      assertThat(context.isSampled()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"junk", "zipkin", "jaeger", "OTLP"})
  void case11_unknownExporter_isLoggedOnce_andOtlpIsUsed(String name) {
    trace(TestOptions.exportingTo(receiver).setting(EXPORTER, name), 1);

    assertThat(receiver.awaitSpans(1, SOON)).hasSize(1);
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("OTEL_TRACES_EXPORTER", "'" + name + "'", "otlp", "console", "none")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"none,otlp", "none,bogus", "otlp, none"})
  void noneAmongOtherExporters_selectsNone_andIsLoggedOnce(String names) {
    trace(TestOptions.exportingTo(receiver).setting(EXPORTER, names), 1);

    assertThat(receiver.requestCount()).isZero();
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("OTEL_TRACES_EXPORTER", "'" + names + "'", "using 'none'")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"otlp,otlp_file", "otlp_file,otlp"})
  void twoExporters_countTheResultsOfOtlp(String names) throws Exception {
    Path file = folder.resolve("traces.jsonl");
    receiver.behave(Behaviour.REFUSE);
    Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingTo(receiver)
                .setting(EXPORTER, names)
                .setting(FILE, file.toString())
                .build());
    try (telemetry) {
      span(telemetry);
      telemetry.flush(SOON);
    }

    assertThat(OtlpJsonLines.spans(Files.readString(file))).hasSize(1);
    assertThat(telemetry.spanCounts().exported()).isZero();
    assertThat(telemetry.spanCounts().dropped().exportFailed()).isOne();
  }

  @Test
  void twoExporters_eachReceiveEverySpanOnce() throws Exception {
    Path file = folder.resolve("traces.jsonl");
    trace(
        TestOptions.exportingTo(receiver)
            .setting(EXPORTER, "otlp,otlp_file")
            .setting(FILE, file.toString()),
        3);

    assertThat(receiver.awaitSpans(3, SOON)).hasSize(3);
    assertThat(OtlpJsonLines.spans(Files.readString(file))).hasSize(3);
  }

  @Test
  void console_printsOtlpJsonLines() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream console = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      trace(TestOptions.tracingAll().setting(EXPORTER, "console"), 2);
    } finally {
      System.setOut(console);
    }

    assertThat(OtlpJsonLines.spans(printed.toString(StandardCharsets.UTF_8)))
        .extracting(span -> span.get("name"))
        .containsExactly("gateway.request", "gateway.request");
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void file_holdsOtlpJson() throws Exception {
    Path file = folder.resolve("traces.jsonl");
    SpanContext context = trace(toFile(file), 1);

    Map<String, Object> request = OtlpJsonLines.parse(Files.readString(file).strip());
    Map<String, Object> resource = OtlpJsonLines.list(request, "resourceSpans").get(0);
    Map<String, Object> scope = OtlpJsonLines.list(resource, "scopeSpans").get(0);
    Map<String, Object> span = OtlpJsonLines.list(scope, "spans").get(0);
    assertThat(span)
        .containsEntry("traceId", context.getTraceId())
        .containsEntry("spanId", context.getSpanId())
        .containsEntry("name", "gateway.request")
        .containsEntry("kind", 2L)
        .doesNotContainKey("parentSpanId");
    assertThat(Long.parseLong((String) span.get("endTimeUnixNano")))
        .isGreaterThanOrEqualTo(Long.parseLong((String) span.get("startTimeUnixNano")));
    assertThat(OtlpJsonLines.list(span, "attributes"))
        .contains(
            attribute("gen_ai.request.model", "stringValue", "m\"\\\n\u0001\u00e9\ud83d\ude00"),
            attribute("gen_ai.request.max_tokens", "intValue", Long.toString(Long.MAX_VALUE)),
            attribute("gen_ai.request.temperature", "doubleValue", 0.5),
            attribute("gen_ai.request.stream", "boolValue", true))
        .contains(
            attribute(
                "gen_ai.response.finish_reasons",
                "arrayValue",
                Map.of(
                    "values",
                    List.of(Map.of("stringValue", "stop"), Map.of("stringValue", "length")))));
    assertThat(OtlpJsonLines.list(OtlpJsonLines.object(resource, "resource"), "attributes"))
        .contains(attribute("service.name", "stringValue", "test-gateway"));
    assertThat(OtlpJsonLines.object(scope, "scope"))
        .containsEntry("name", "gateway-api-inference-extension");
  }

  private static Map<String, Object> attribute(String key, String type, Object value) {
    return Map.of("key", key, "value", Map.of(type, value));
  }

  @Test
  void file_isAppendedToByTheNextProcess() throws Exception {
    Path file = folder.resolve("traces.jsonl");
    trace(toFile(file), 1);
    trace(toFile(file), 1);

    assertThat(OtlpJsonLines.spans(Files.readString(file))).hasSize(2);
  }

  @Test
  void file_neverUsesMoreThanTwiceItsLimit() throws Exception {
    Path file = folder.resolve("traces.jsonl");
    Path older = folder.resolve("traces.jsonl.1");
    long bound = 20_000;
    trace(
        toFile(file)
            .setting(MAX_BYTES, Long.toString(bound))
            .setting("otel.bsp.max.export.batch.size", "8"),
        400);

    assertThat(Files.size(file)).isLessThanOrEqualTo(bound);
    assertThat(Files.size(older)).isLessThanOrEqualTo(bound);
    assertThat(filesInFolder()).containsExactlyInAnyOrder(file, older);
    // Both files contain only whole lines.
    assertThat(OtlpJsonLines.spans(Files.readString(file))).isNotEmpty();
    assertThat(OtlpJsonLines.spans(Files.readString(older))).isNotEmpty();
  }

  @Test
  void fullFile_isRotatedByTheNextProcess() throws Exception {
    Path file = folder.resolve("traces.jsonl");
    Files.writeString(file, "{}\n".repeat(1_000));
    trace(toFile(file).setting(MAX_BYTES, "2000"), 1);

    assertThat(Files.size(file)).isLessThanOrEqualTo(2_000);
    assertThat(OtlpJsonLines.spans(Files.readString(file))).hasSize(1);
  }

  @Test
  void unwritableFile_dropsOnlyTheSpans() throws Exception {
    Path file = folder.resolve("gone").resolve("traces.jsonl");
    Files.createDirectory(file.getParent());
    Telemetry telemetry = Telemetry.initTracing(toFile(file).build());
    Files.delete(file.getParent());
    try (telemetry) {
      span(telemetry);
    }

    assertThat(telemetry.spanCounts().dropped().exportFailed()).isOne();
  }

  @Test
  void file_inAMissingFolder_isRejectedInOneSentence() {
    Path file = folder.resolve("missing").resolve("traces.jsonl");

    assertRefused(toFile(file), "INFERSPAN_OTLP_FILE_PATH", file.toString());
  }

  @Test
  void file_thatIsAFolder_isRejectedInOneSentence() {
    assertRefused(toFile(folder), "INFERSPAN_OTLP_FILE_PATH", folder.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1"})
  void file_withAnInvalidLimit_isRejectedInOneSentence(String bound) {
    assertRefused(
        toFile(folder.resolve("traces.jsonl")).setting(MAX_BYTES, bound),
        "INFERSPAN_OTLP_FILE_MAX_BYTES",
        bound);
  }

  private static void assertRefused(TelemetryOptions.Builder options, String... parts) {
    TelemetryOptions refused = options.build();
    assertThatThrownBy(() -> Telemetry.initTracing(refused))
        .hasMessageContainingAll(parts)
        .message()
        .doesNotContain("\n");
  }

  private static TelemetryOptions.Builder toFile(Path file) {
    return TestOptions.tracingAll().setting(EXPORTER, "otlp_file").setting(FILE, file.toString());
  }

  private List<Path> filesInFolder() throws IOException {
    try (var files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static SpanContext trace(TelemetryOptions.Builder options, int spans) {
    try (Telemetry telemetry = Telemetry.initTracing(options.build())) {
      SpanContext last = SpanContext.getInvalid();
      for (int i = 0; i < spans; i++) {
        last = span(telemetry);
      }
      return last;
    }
  }

  private static SpanContext span(Telemetry telemetry) {
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      span.set(GenAiAttributes.REQUEST_MODEL, "m\"\\\n\u0001\u00e9\ud83d\ude00")
          .set(GenAiAttributes.REQUEST_MAX_TOKENS, Long.MAX_VALUE)
          .set(GenAiAttributes.REQUEST_TEMPERATURE, 0.5)
          .set(GenAiAttributes.REQUEST_STREAM, true)
          .set(GenAiAttributes.RESPONSE_FINISH_REASONS, List.of("stop", "length"));
      return Span.fromContext(span.context()).getSpanContext();
    }
  }
}
