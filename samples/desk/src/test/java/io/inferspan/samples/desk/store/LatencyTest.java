package io.inferspan.samples.desk.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.trace.SummaryReader;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyTest {

  private static final long ALL_TIME = 0;

  private final SpanStore store =
      new SpanStore(Bounds.of(1_000, 1 << 24), new Drops(), new SummaryReader());

  private void request(long trace, String model, double fromMillis, double ttft, boolean failed) {
    TestSpan span =
        TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
            .id(trace, 1, 0)
            .at(fromMillis, fromMillis + ttft + 100)
            .with(GenAiAttributes.REQUEST_MODEL, model)
            .with(GenAiAttributes.USAGE_COMPLETION_TOKENS, 11L)
            .with(ResponseAttributes.FIRST_TOKEN_MS, ttft);
    store.add(TestSpan.received(failed ? span.error("x") : span));
  }

  private List<Latency.Group> groups(Latency.By by, long sinceNanos) {
    store.summarise(0);
    return Latency.of(store.list().samples(), by, sinceNanos);
  }

  @Test
  void percentiles_areMeasuredValues() {
    for (int i = 1; i <= 100; i++) {
      request(i, "llama", 0, i, i % 10 == 0);
    }

    Latency.Group group = groups(Latency.By.MODEL, ALL_TIME).getFirst();

    assertThat(group.requests()).isEqualTo(100);
    assertThat(group.errors()).isEqualTo(10);
    assertThat(group.ttft()).isEqualTo(new Latency.Percentiles(50, 95, 99));
    assertThat(group.tokenGap()).isEqualTo(new Latency.Percentiles(10, 10, 10));
  }

  @Test
  void groups_areByModel_largestFirst_sinceATime() {
    request(1, "llama", 0, 10, false);
    request(2, "qwen", 500, 10, false);
    request(3, "qwen", 600, 10, false);

    assertThat(groups(Latency.By.MODEL, ALL_TIME))
        .extracting(Latency.Group::name)
        .containsExactly("qwen", "llama");
    assertThat(groups(Latency.By.MODEL, TestSpan.EPOCH_NANOS + 550_000_000))
        .extracting(Latency.Group::requests)
        .containsExactly(1);
    assertThat(groups(Latency.By.ROUTE, ALL_TIME))
        .extracting(Latency.Group::name)
        .containsExactly("unknown");
  }
}
