package io.inferspan.samples.desk.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.trace.SummaryReader;
import io.inferspan.semconv.GenAiAttributes;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HistoryTest {

  private static final long SINCE = TestSpan.EPOCH_NANOS;
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private static TestSpan request(long trace, double atMillis) {
    return TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
        .id(trace, 1, 0)
        .at(atMillis, atMillis + 100)
        .with(GenAiAttributes.REQUEST_MODEL, "llama");
  }

  private static SpanStore store(long maxSpans) {
    return new SpanStore(Bounds.of(maxSpans, 1 << 24), new Drops(), new SummaryReader());
  }

  private static History history(SpanStore store, String pod) {
    return History.of(store.list().samples(), SINCE, SINCE + 60 * MINUTE, pod);
  }

  @Test
  void requestsWhoseSpansWereDropped_stillCount_errorsIncluded() {
    SpanStore store = store(10);
    for (int i = 1; i <= 600; i++) {
      TestSpan request = request(i, i * 5_000);
      store.add(TestSpan.received(i % 10 == 0 ? request.error("x") : request));
      store.summarise(0);
    }

    assertThat(store.size().traces()).isEqualTo(10);
    assertThat(history(store, "").slices().stream().mapToInt(History.Slice::requests).sum())
        .isEqualTo(600);
    assertThat(history(store, "").slices().stream().mapToInt(History.Slice::failed).sum())
        .isEqualTo(60);
    assertThat(Latency.of(store.list().samples(), Latency.By.MODEL, SINCE).getFirst().errors())
        .isEqualTo(60);
  }

  @Test
  void slices_countTheRequestsThatBeganInThem() {
    SpanStore store = store(100);
    store.add(TestSpan.received(request(1, 0), request(2, 90_000), request(3, 91_000)));
    store.summarise(0);

    History history = history(store, "");

    assertThat(history.slices()).hasSize(60);
    assertThat(history.slices().subList(0, 3))
        .extracting(History.Slice::requests)
        .containsExactly(1, 2, 0);
    assertThat(history.slices().get(1).startNanos()).isBetween(SINCE + MINUTE, SINCE + MINUTE + 60);
  }

  @Test
  void pod_filtersTheSlices_butNotTheListOfPods() {
    SpanStore store = store(100);
    store.add(TestSpan.received(request(1, 0)));
    store.summarise(0);

    assertThat(history(store, "another").slices())
        .extracting(History.Slice::requests)
        .containsOnly(0);
    assertThat(history(store, "another").pods()).containsExactly(Sample.UNKNOWN);
  }

  @Test
  void droppedRequests_areKeptUpToALimit() {
    SpanStore store = store(1);
    int requests = SummaryList.MAX_PAST + 5;
    for (int i = 1; i <= requests; i++) {
      store.add(TestSpan.received(request(i, 0)));
      store.summarise(0);
    }

    assertThat(store.list().samples().count()).isEqualTo(SummaryList.MAX_PAST + 1);
  }
}
