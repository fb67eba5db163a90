package io.inferspan.pd.telemetry;

import static io.inferspan.pd.rig.SidecarRig.only;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares the times on the spans with the engines' own clock. */
final class PdTimesIT {
  private static final String OURS = "llm_d.pd_proxy.";
  private static final String REQUEST = "llm_d.pd_proxy.request";
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final Duration PREFILL = Duration.ofMillis(60);
  private static final Duration GAP = Duration.ofMillis(20);
  private static final int TOKENS = 8;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final List<String> END_TO_END =
      List.of(
          "total_duration_ms",
          "true_ttft_ms",
          "prefill_duration_ms",
          "decode_duration_ms",
          "coordinator_overhead_ms");

  @RegisterExtension static final TracingExtension TRACING = TracingExtension.create();

  private static TracedPd pd;

  @BeforeAll
  static void start() {
    pd = new TracedPd(TRACING.openTelemetry());
    // Warm up: the first run takes longer than the measured times.
    request(SpanNaming.PROPOSAL);
    TRACING.clear();
    pd.reset();
  }

  @AfterAll
  static void stop() {
    pd.close();
  }

  @AfterEach
  void reset() {
    pd.reset();
  }

  private static List<SpanRecord> request(SpanNaming naming) {
    pd.prefiller().script(EngineScript.builder().prefill(PREFILL).build());
    pd.decoder()
        .script(EngineScript.builder().prefill(GAP).betweenTokens(GAP).tokens(TOKENS).build());
    Scenario.PD_STREAMED.play(pd, pd.rig(naming));
    return TRACING.awaitSpans(Scenario.PD_STREAMED.spans(naming), SOON);
  }

  private static double millis(SpanRecord span, String key) {
    Object value = span.attribute(key);
    assertThat(value).as(key).isInstanceOf(Double.class);
    return value instanceof Double number ? number : Double.NaN;
  }

  private static double millisBetween(long fromNanos, long toNanos) {
    return (toNanos - fromNanos) / NANOS_PER_MILLI;
  }

  @Test
  void stagesAndOverhead_addUpToTheTotal() {
    List<SpanRecord> spans = request(SpanNaming.PROPOSAL);
    SpanRecord request = only(spans, REQUEST);
    SpanRecord prefill = only(spans, OURS + "prefill");

    double before = millisBetween(request.startEpochNanos(), prefill.startEpochNanos());
    double untilDecode =
        before
            + millis(request, OURS + "prefill_duration_ms")
            + millis(request, OURS + "coordinator_overhead_ms");
    assertThat(millis(request, OURS + "true_ttft_ms")).isCloseTo(untilDecode, within(10.0));
    assertThat(untilDecode + millis(request, OURS + "decode_duration_ms"))
        .isCloseTo(millis(request, OURS + "total_duration_ms"), within(10.0));
  }

  @Test
  void stages_takeAsLongAsTheirSpans_inFractionsOfMilliseconds() {
    List<SpanRecord> spans = request(SpanNaming.PROPOSAL);
    SpanRecord request = only(spans, REQUEST);
    SpanRecord prefill = only(spans, OURS + "prefill");
    SpanRecord decode = only(spans, OURS + "decode");

    assertThat(millis(prefill, OURS + "prefill.duration_ms"))
        .isEqualTo(millis(request, OURS + "prefill_duration_ms"))
        .isGreaterThanOrEqualTo((double) PREFILL.toMillis())
        .isCloseTo(prefill.duration().toNanos() / NANOS_PER_MILLI, within(10.0));
    assertThat(millis(decode, OURS + "decode.duration_ms"))
        .isEqualTo(millis(request, OURS + "decode_duration_ms"))
        .isGreaterThanOrEqualTo((double) GAP.toMillis() * TOKENS)
        .isCloseTo(decode.duration().toNanos() / NANOS_PER_MILLI, within(10.0));
    assertThat(END_TO_END)
        .extracting(key -> millis(request, OURS + key) % 1)
        .as("whole milliseconds")
        .anyMatch(fraction -> fraction > 0);
  }

  @Test
  void firstToken_isAtTheTimeWhenTheEngineSentIt() {
    List<SpanRecord> spans = request(SpanNaming.PROPOSAL);
    EngineRequest decoded = pd.decoder().requests().getFirst();
    SpanRecord request = only(spans, REQUEST);
    SpanRecord generated = below(only(spans, OURS + "decode"), spans);

    double sentAfter =
        millisBetween(request.startEpochNanos(), decoded.arrivalEpochNanos())
            + 1e3 * millis(generated, "gen_ai.latency.time_to_first_token");
    assertThat(millis(request, "inferspan.response.first_token_ms"))
        .isCloseTo(sentAfter, within(5.0));
    assertThat(millis(request, "gen_ai.latency.time_to_first_token"))
        .isCloseTo(millis(request, "inferspan.response.first_token_ms") / 1e3, within(1e-9));
    assertThat(millis(request, OURS + "true_ttft_ms"))
        .as("the proposal's first token is the start of decode")
        .isLessThan(millis(request, "inferspan.response.first_token_ms") - GAP.toMillis() / 2.0);
  }

  private static SpanRecord below(SpanRecord parent, List<SpanRecord> spans) {
    return spans.stream()
        .filter(span -> span.parentSpanId().equals(parent.spanId()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void tokenGaps_areThoseOfTheEngine() {
    SpanRecord request = only(request(SpanNaming.PROPOSAL), REQUEST);

    assertThat(request.attribute("inferspan.response.tokens")).isEqualTo((long) TOKENS);
    assertThat(millis(request, "inferspan.response.token_gap.p50_ms"))
        .isCloseTo((double) GAP.toMillis(), within(5.0));
    assertThat(millis(request, "inferspan.response.token_gap.max_ms"))
        .isGreaterThanOrEqualTo(millis(request, "inferspan.response.token_gap.p50_ms") * 0.95);
  }

  @ParameterizedTest
  @EnumSource(names = {"CONCURRENT_SGLANG", "CONCURRENT_MOONCAKE", "PARALLEL_DISPATCH"})
  void concurrentStages_haveTheirTimes_andDecodeWaitsForPrefill(Scenario scenario) {
    pd.prefiller().script(EngineScript.builder().prefill(PREFILL).build());
    pd.decoder().script(EngineScript.builder().prefill(PREFILL.multipliedBy(4)).build());
    scenario.play(pd, scenario.rig(pd, SpanNaming.PROPOSAL));
    List<SpanRecord> spans = TRACING.awaitSpans(scenario.spans(SpanNaming.PROPOSAL), SOON);
    SpanRecord request = only(spans, REQUEST);

    double prefill = millis(request, OURS + "prefill_duration_ms");
    assertThat(prefill)
        .isEqualTo(millis(only(spans, OURS + "prefill"), OURS + "prefill.duration_ms"))
        .isGreaterThanOrEqualTo((double) PREFILL.toMillis());
    assertThat(millis(request, OURS + "true_ttft_ms"))
        .isGreaterThanOrEqualTo(prefill)
        .isLessThan(millis(request, "inferspan.response.first_token_ms"));
    assertThat(millis(request, OURS + "decode_duration_ms"))
        .isEqualTo(millis(only(spans, OURS + "decode"), OURS + "decode.duration_ms"))
        .isGreaterThanOrEqualTo(4.0 * PREFILL.toMillis());
  }

  @Test
  void llmdDecodeSpan_hasTheSameTimes_forItsDashboards() {
    List<SpanRecord> spans = request(SpanNaming.CURRENT);
    SpanRecord request = only(spans, "forward_request");
    SpanRecord decode = only(spans, "decode");

    assertThat(END_TO_END)
        .allSatisfy(
            key -> assertThat(millis(decode, OURS + key)).isEqualTo(millis(request, OURS + key)));
  }
}
