package io.inferspan.samples.desk.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AnatomyTest {

  private static Anatomy anatomy(List<TestSpan> spans) {
    return Objects.requireNonNull(Traces.view(spans).anatomy());
  }

  private static List<String> parts(Anatomy anatomy) {
    return anatomy.parts().stream()
        .map(
            part ->
                String.format(Locale.ROOT, "%s %.1f", part.activity().key(), part.nanos() / 1e6))
        .toList();
  }

  @ParameterizedTest
  @EnumSource
  void disaggregatedRequest_isDividedIntoParts(SpanNaming naming) {
    Anatomy anatomy = anatomy(Traces.disaggregated(naming));

    assertThat(parts(anatomy))
        .containsExactly(
            "schedule 1.0",
            "kv_lookup 2.0",
            "schedule 1.0",
            "connect 2.0",
            "proxy 1.0",
            "wire 2.0",
            "queue 10.0",
            "prefill 30.0",
            "wire 1.0",
            "proxy 1.0",
            "wire 2.0",
            "transfer 8.0",
            "first_decode 7.0",
            "wire 2.0");
    assertThat(anatomy.ttftNanos()).isEqualTo(70_000_000);
    assertThat(anatomy.engineTtftNanos()).isEqualTo(15_000_000);
    assertThat(anatomy.sumNanos()).isEqualTo(anatomy.ttftNanos());
  }

  @Test
  void requestToOneEngine_queuesAndPrefillsThere() {
    Anatomy anatomy =
        anatomy(
            List.of(
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 1, 0)
                    .at(0, 100)
                    .with(ResponseAttributes.FIRST_TOKEN_MS, 62.0),
                Traces.engine("vllm", 2, 1, 20, 40).at(1, 99)));

    assertThat(parts(anatomy))
        .containsExactly("other 1.0", "queue 20.0", "prefill 40.0", "other 1.0");
  }

  @Test
  void proxyWithoutStages_onlyForwards() {
    Anatomy anatomy =
        anatomy(
            List.of(
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 1, 0)
                    .at(0, 100)
                    .with(ResponseAttributes.FIRST_TOKEN_MS, 70.0),
                TestSpan.of(PdSpans.REQUEST, "", "llm-d-pd-proxy").id(1, 2, 1).at(1, 99),
                Traces.engine("vllm", 3, 2, 20, 40).at(8, 98)));

    assertThat(parts(anatomy))
        .containsExactly("other 1.0", "wire 7.0", "queue 20.0", "prefill 40.0", "wire 2.0");
  }

  @Test
  void chunkedDecode_countsTheEngineOfTheFirstChunk() {
    List<TestSpan> spans =
        List.of(
            TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                .id(1, 1, 0)
                .at(0, 100)
                .with(ResponseAttributes.FIRST_TOKEN_MS, 82.0),
            TestSpan.of(PdSpans.REQUEST, "", "llm-d-pd-proxy").id(1, 2, 1).at(1, 99),
            TestSpan.of(PdSpans.CHUNKED_DECODE, "", "llm-d-pd-proxy")
                .id(1, 3, 2)
                .at(2, 98)
                .with(PdAttributes.CHUNKED_TOKENS, 40L),
            Traces.engine("vllm", 4, 3, 20, 40).at(4, 80),
            Traces.engine("vllm", 5, 3, 1, 2).at(84, 97));

    assertThat(parts(anatomy(spans)))
        .containsExactly(
            "other 1.0",
            "proxy 1.0",
            "wire 2.0",
            "queue 20.0",
            "prefill 40.0",
            "first_decode 16.0",
            "wire 2.0");
    assertThat(anatomy(spans).engineTtftNanos()).isEqualTo(60_000_000);
    assertThat(Traces.summary(spans, true).outcome().tokens()).isEqualTo(40);
  }

  @Test
  void plainGateway_waitsForItsUpstream() {
    Anatomy anatomy =
        anatomy(
            List.of(
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 1, 0)
                    .at(0, 100)
                    .with(GatewayAttributes.UPSTREAM_CONNECT_MS, 2.0)
                    .with(GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, 59.0)
                    .with(ResponseAttributes.FIRST_TOKEN_MS, 62.0)));

    assertThat(parts(anatomy)).containsExactly("connect 2.0", "upstream 59.0", "other 1.0");
  }

  @Test
  void timeInTheEngineBeforeItsQueue_isAttributedToTheEngine() {
    Anatomy anatomy =
        anatomy(
            List.of(
                Traces.engine("vllm", 2, 0, 20, 40)
                    .at(0, 99)
                    .with(GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, 0.065)));

    assertThat(parts(anatomy)).containsExactly("engine 5.0", "queue 20.0", "prefill 40.0");
  }

  @Test
  void engineWithoutAGateway_reportsItsOwnFirstToken() {
    Anatomy anatomy = anatomy(List.of(Traces.engine("vllm", 2, 0, 20, 40).at(0, 99)));

    assertThat(parts(anatomy)).containsExactly("queue 20.0", "prefill 40.0");
  }

  @Test
  void traceWithoutFirstToken_hasNone() {
    assertThat(
            Traces.view(List.of(TestSpan.named("checkout", "shop").id(1, 1, 0).at(0, 10)))
                .anatomy())
        .isNull();
  }

  @Test
  void randomSpans_giveAdjacentPartsThatAddUp() {
    Random random = new Random(20_261_121L);
    for (int round = 0; round < 300; round++) {
      List<TestSpan> spans = new ArrayList<>();
      for (TestSpan span : Traces.disaggregated(SpanNaming.PROPOSAL)) {
        double start = random.nextDouble() * 90 - 10;
        // If a span is given twice, the later one counts.
        spans.add(random.nextInt(3) == 0 ? span.at(start, start + random.nextDouble() * 80) : span);
      }
      Anatomy anatomy = anatomy(spans);

      assertThat(anatomy.sumNanos()).isEqualTo(anatomy.ttftNanos());
      long at = anatomy.beginNanos();
      for (Anatomy.Part part : anatomy.parts()) {
        assertThat(part.startNanos()).isEqualTo(at);
        assertThat(part.nanos()).isPositive();
        at = part.endNanos();
      }
    }
  }
}
