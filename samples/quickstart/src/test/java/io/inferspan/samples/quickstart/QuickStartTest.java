package io.inferspan.samples.quickstart;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.quickstart.QuickStart.Options;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTreeAssert;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class QuickStartTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @ParameterizedTest
  @EnumSource
  void longPrompt_isPrefilledElsewhere_inOneTrace(SpanNaming naming) throws IOException {
    List<SpanRecord> spans = trace(new Options(Timetable.QUESTION, naming, false));

    assertThatSpans(spans)
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            %s [SERVER]
              %s
                %s
                  %s
                  %s
              %s {%s=prefill_decode}
              %s {%s=true}
              %s [SERVER]
                %s
                  %s [SERVER] {%s=1}
                %s
                  %s [SERVER] {%s=24}
            """
                .formatted(
                    expected(
                        naming,
                        GatewaySpans.REQUEST,
                        EppSpans.SCORER_PREFIX_CACHE,
                        KvCacheSpans.GET_SCORES,
                        KvCacheSpans.LOOKUP,
                        KvCacheSpans.COMPUTE,
                        EppSpans.PROFILE_HANDLER,
                        EppAttributes.DECISION,
                        EppSpans.PREREQUEST,
                        EppAttributes.PD_USED,
                        PdSpans.REQUEST,
                        PdSpans.PREFILL,
                        EngineSpans.LLM_REQUEST,
                        GenAiAttributes.USAGE_COMPLETION_TOKENS,
                        PdSpans.DECODE,
                        EngineSpans.LLM_REQUEST,
                        GenAiAttributes.USAGE_COMPLETION_TOKENS)));
  }

  @Test
  void shortPrompt_isDecodedOnly() throws IOException {
    List<SpanRecord> spans = trace(Options.DEFAULT.withPrompt("Is there a train at noon?"));

    assertThatSpans(spans)
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            %s
              %s
                %s
                  %s
                  %s
              %s {%s=decode_only}
              %s {%s=false}
              %s {%s=no_prefill_header}
                %s {%s=24}
            """
                .formatted(
                    expected(
                        SpanNaming.PROPOSAL,
                        GatewaySpans.REQUEST,
                        EppSpans.SCORER_PREFIX_CACHE,
                        KvCacheSpans.GET_SCORES,
                        KvCacheSpans.LOOKUP,
                        KvCacheSpans.COMPUTE,
                        EppSpans.PROFILE_HANDLER,
                        EppAttributes.DECISION,
                        EppSpans.PREREQUEST,
                        EppAttributes.PD_USED,
                        PdSpans.REQUEST,
                        PdAttributes.REASON,
                        EngineSpans.LLM_REQUEST,
                        GenAiAttributes.USAGE_COMPLETION_TOKENS)));
  }

  @Test
  void cachedPart_isWhatTheEarlierConversationShares() throws IOException {
    SpanRecord decision =
        span(trace(Options.DEFAULT), SpanNaming.PROPOSAL, EppSpans.PROFILE_HANDLER);

    int blocks = Timetable.SYSTEM.length() / PrefixScorer.BLOCK_BYTES;
    assertThat(value(decision, EppAttributes.CACHE_HITS)).isEqualTo((long) blocks);
    assertThat(value(decision, EppAttributes.NON_CACHED_BYTES))
        .isEqualTo(
            (long) Timetable.SYSTEM.length()
                + Timetable.QUESTION.length()
                - (long) blocks * PrefixScorer.BLOCK_BYTES);
  }

  @Test
  void services_areFour() throws IOException {
    assertThat(trace(Options.DEFAULT).stream().map(SpanRecord::serviceName).distinct())
        .containsExactlyInAnyOrder(
            "llm-gateway", "llm-d-pd-proxy", "vllm-prefill-pod", "vllm-decode-pod");
  }

  @Test
  void endToEndTimes_addUp() throws IOException {
    SpanRecord proxy = span(trace(Options.DEFAULT), SpanNaming.PROPOSAL, PdSpans.REQUEST);

    double trueTtft = (double) value(proxy, PdAttributes.TRUE_TTFT_MS);
    double prefill = (double) value(proxy, PdAttributes.PREFILL_DURATION_MS);
    double overhead = (double) value(proxy, PdAttributes.COORDINATOR_OVERHEAD_MS);
    double decode = (double) value(proxy, PdAttributes.DECODE_DURATION_MS);
    assertThat(prefill).isGreaterThanOrEqualTo(40);
    assertThat(decode).isGreaterThanOrEqualTo(23 * 8);
    assertThat(overhead).isPositive();
    assertThat(trueTtft).isGreaterThanOrEqualTo(prefill + overhead - 0.001);
    assertThat((double) value(proxy, PdAttributes.TOTAL_DURATION_MS))
        .isBetween(trueTtft + decode - 0.001, trueTtft + decode + 0.001);
  }

  @Test
  void program_showsTreeAndWhereTheTimeWent() {
    assertThat(run()).as(err.toString(StandardCharsets.UTF_8)).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains(GatewaySpans.REQUEST.name(SpanNaming.PROPOSAL) + " (")
        .contains("decision=prefill_decode", "true_ttft_ms=", "completion_tokens=24")
        .contains("Most of the time")
        .contains("OTEL_EXPORTER_OTLP_ENDPOINT");
  }

  @Test
  void help_namesEveryOption() {
    assertThat(run("--help")).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("--prompt", "--span-names", "--json", SpanNaming.settings());
  }

  @Test
  void whatIsNotUnderstood_isSaidInOneSentence() {
    assertThat(run("--nonsense")).isEqualTo(2);
    assertThat(run("--span-names", "nonsense")).isEqualTo(2);
    assertThat(run("--prompt")).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8).lines()).hasSize(3);
    assertThat(out.size()).isZero();
  }

  private int run(String... arguments) {
    return QuickStart.run(
        List.of(arguments),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private static List<SpanRecord> trace(Options options) throws IOException {
    return QuickStart.trace(options).spans();
  }

  private static Object[] expected(SpanNaming naming, Object... parts) {
    return Stream.of(parts)
        .map(part -> part instanceof SpanType type ? type.name(naming) : part.toString())
        .toArray();
  }

  private static SpanRecord span(List<SpanRecord> spans, SpanNaming naming, SpanType type) {
    SpanTreeAssert assertion = assertThatSpans(spans);
    return assertion.span(type.name(naming));
  }

  private static Object value(SpanRecord span, Attribute<?> attribute) {
    Object value = span.attribute(attribute.key().getKey());
    assertThat(value).as("%s of %s", attribute, span.name()).isNotNull();
    return value == null ? "" : value;
  }
}
