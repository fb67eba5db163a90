package io.inferspan.ebpf.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The spans of vLLM, and the phases that their attributes describe. */
class LlmRequestImportTest {

  private static final long START = 1_763_948_000_000_000_000L;
  private static final long MILLI = 1_000_000;

  /** A request of 2 s: 0.1 s in the queue, 0.3 s to its first token at 0.45 s, then 1.5 s. */
  static final String SPAN =
      """
      {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vllm"}}]},"scopeSpans":[{"scope":{"name":"vllm.llm_engine"},"spans":[
        {"traceId":"4BF92F3577B34DA6A3CE929D0E0E4736","spanId":"00f067aa0ba902b7","parentSpanId":"00f067aa0ba902b6","name":"llm_request","kind":2,
         "startTimeUnixNano":"1763948000000000000","endTimeUnixNano":"1763948002000000000","attributes":[
          {"key":"gen_ai.request.id","value":{"stringValue":"cmpl-1"}},
          {"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":0.1}},
          {"key":"gen_ai.latency.time_to_first_token","value":{"doubleValue":0.45}},
          {"key":"gen_ai.latency.e2e","value":{"intValue":"2"}},
          {"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.3}},
          {"key":"gen_ai.latency.time_in_model_decode","value":{"doubleValue":1.5}}]}]}]}]}
      """;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @TempDir private Path directory;

  @Test
  void phases_areBelowTheRequest_andMarkedAsSynthesised() throws IOException {
    SpanImport spans = read(SPAN);

    assertThat(tracing.spans())
        .hasSize(3)
        .allSatisfy(
            span -> {
              assertThat(span.traceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
              assertThat(span.parentSpanId()).isEqualTo("00f067aa0ba902b7");
              assertThat(span.attributes())
                  .containsOnly(
                      entry("inferspan.synthesised", true),
                      entry("inferspan.start_error_ms", 50.0));
            });
    assertPhase("llm_d.engine.queue", 50, 150);
    assertPhase("llm_d.engine.prefill", 150, 450);
    assertPhase("llm_d.engine.decode", 450, 1950);
    assertThat(spans.report()).containsExactly("1 requests of vLLM");
  }

  @Test
  void firstTokenInTheLatestConventions_isRead() throws IOException {
    read(SPAN.replace("gen_ai.latency.time_to_first_token", "gen_ai.response.time_to_first_chunk"));

    assertPhase("llm_d.engine.decode", 450, 1950);
  }

  @Test
  void decodeWithoutAFirstToken_endsWithTheRequest() throws IOException {
    read(SPAN.replace("gen_ai.latency.time_to_first_token", "gen_ai.latency.other"));

    assertPhase("llm_d.engine.queue", 100, 200);
    assertPhase("llm_d.engine.prefill", 200, 500);
    assertPhase("llm_d.engine.decode", 500, 2000);
  }

  @Test
  void phasesLongerThanTheTimeToTheFirstToken_beginWithTheRequest() throws IOException {
    read(SPAN.replace("0.45", "0.395"));

    assertPhase("llm_d.engine.queue", 0, 100);
    assertPhase("llm_d.engine.prefill", 100, 400);
    assertThat(only("llm_d.engine.queue").attributes())
        .contains(entry("inferspan.start_error_ms", 0.0));
  }

  @Test
  void phaseWithoutDuration_isNotASpan() throws IOException {
    read(SPAN.replace("1.5", "0"));

    assertThat(tracing.spans())
        .extracting(SpanRecord::name)
        .containsExactlyInAnyOrder("llm_d.engine.queue", "llm_d.engine.prefill");
  }

  @ParameterizedTest
  @CsvSource({"0.1, -0.1", "1.5, 1700", "0.45, 3", "0.45, 1e300", "gen_ai.latency, my.latency"})
  void timesThatDoNotFitTheSpan_areIgnored(String from, String to) throws IOException {
    SpanImport spans = read(SPAN.replace(from, to));

    assertThat(tracing.spans()).isEmpty();
    assertThat(spans.report())
        .containsExactly("1 requests with missing or inconsistent times, left out");
  }

  @Test
  void requestWithChildSpans_isLeftOut() throws IOException {
    String child =
        SPAN.replace("llm_request", "vllm_queue")
            .replace("00f067aa0ba902b7", "00f067aa0ba902b8")
            .replace("00f067aa0ba902b6", "00F067AA0BA902B7");
    SpanImport spans = read(SPAN, child);

    assertThat(tracing.spans()).isEmpty();
    assertThat(spans.report())
        .containsExactly("1 requests that already have child spans, left out");
  }

  @Test
  void spanInTwoFiles_isOneRequest() throws IOException {
    read(SPAN, SPAN + SPAN);

    assertThat(tracing.spans()).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"name\":\"llm | \"title\":\"llm | expected a string 'resourceSpans.scopeSpans.spans.name'",
        "A3CE929D | A3 | expected 32 hexadecimal digits 'resourceSpans.scopeSpans.spans.traceId'",
        "\"1763948002000000000\" | \"soon\" | expected a whole number",
        "{\"doubleValue\":0.3} | {\"stringValue\":\"0.3\"} | spans.attributes.value.intValue'",
        "[{\"scope\" | [7,{\"scope\" | expected objects 'resourceSpans.scopeSpans'"
      })
  void malformedFile_isRefusedWithLineAndColumn(String from, String to, String message) {
    assertThatThrownBy(() -> read("\n " + SPAN.replace(from, to)))
        .isInstanceOf(StackFormatException.class)
        .hasMessageStartingWith("line 2, column 2: expected ")
        .hasMessageContaining(message);
  }

  private void assertPhase(String name, long fromMillis, long toMillis) {
    SpanRecord span = only(name);
    assertThat((span.startEpochNanos() - START) / MILLI).isEqualTo(fromMillis);
    assertThat((span.endEpochNanos() - START) / MILLI).isEqualTo(toMillis);
  }

  private SpanRecord only(String name) {
    return tracing.spans().stream()
        .filter(span -> span.name().equals(name))
        .reduce(
            (first, second) -> {
              throw new AssertionError("two spans " + name);
            })
        .orElseThrow();
  }

  private SpanImport read(String... texts) throws IOException {
    SpanImport spans = new SpanImport(NcclMaps.none());
    for (String text : texts) {
      spans.read(Files.writeString(directory.resolve("spans.jsonl"), text));
    }
    spans.write(Telemetry.using(tracing.openTelemetry()), Context.root());
    return spans;
  }
}
