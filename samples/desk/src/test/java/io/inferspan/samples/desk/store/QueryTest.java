package io.inferspan.samples.desk.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.trace.SummaryReader;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueryTest {

  private static final long LAST = Long.MAX_VALUE;

  private final SpanStore store =
      new SpanStore(Bounds.of(1_000, 1 << 24), new Drops(), new SummaryReader());

  @BeforeEach
  void fill() {
    store.add(
        TestSpan.received(
            request(1, "llama", 100).with(GenAiAttributes.REQUEST_ID, "Req-one-4711"),
            request(2, "Qwen", 300)
                .with(ResponseAttributes.FIRST_TOKEN_MS, 120.0)
                .with(GenAiAttributes.REQUEST_ID, "chatcmpl-ending-4711-and-more"),
            TestSpan.of(PdSpans.REQUEST, SpanNaming.PROPOSAL, "llm-d-pd-proxy")
                .id(2, 2, 1)
                .at(1, 299)
                .with(PdAttributes.DISAGGREGATION_USED, false),
            TestSpan.of(PdSpans.DECODE, SpanNaming.PROPOSAL, "llm-d-pd-proxy")
                .id(2, 3, 2)
                .at(2, 298)
                .with(PdAttributes.DECODE_TARGET, "10.0.0.7:8000"),
            TestSpan.of(EngineSpans.LLM_REQUEST, SpanNaming.PROPOSAL, "vllm-decode-9")
                .id(2, 4, 3)
                .at(3, 297),
            request(3, "qwen-large", 50)
                .error("x")
                .with(CommonAttributes.ERROR_TYPE, "java.net.ConnectException"),
            TestSpan.named("checkout", "shop").id(0xabcdef, 1, 0).at(0, 10)));
    store.summarise(0);
  }

  private static TestSpan request(long trace, String model, double millis) {
    return TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
        .id(trace, 1, 0)
        .at(0, millis)
        .with(GenAiAttributes.REQUEST_MODEL, model);
  }

  private List<Long> found(Query query) {
    return query.in(store.list()).found().stream().map(summary -> summary.traceId().low()).toList();
  }

  private static Query of(
      String text, @Nullable Status status, @Nullable String model, double minMillis, double ttft) {
    return new Query(text, status, model, minMillis, ttft, LAST, 10, Order.CHANGES);
  }

  @ParameterizedTest
  @CsvSource({
    "'', '11259375 3 2 1'",
    "qwen, '3 2'",
    "QWEN-, '3'",
    "gateway, '3 2 1'",
    "shop, '11259375'",
    "checkout, '11259375'",
    "connectexc, '3'",
    "req-one-4711, '1'",
    "req-one, '1'",
    "req-one-4712, ''",
    "CHATCMPL-ending-4711, '2'",
    "chatcmpl-ending-4712, ''",
    "0000000000abcdef0000000000abcdef, '11259375'",
    "0000000000abc, '11259375'",
    "0000000000abcdef0000000000abc, '11259375'",
    "0000000000abcdef1, ''",
    "0000000000abcdef0000000000abcdef0, ''",
    "4711, '2 1'",
    "one-4711, '1'",
    "bcdef00, '11259375'",
    "10.0.0.7, '2'",
    "vllm-decode-9, '2'",
    "nothing like it, ''",
  })
  void text_findsByIdsAndNames(String text, String traces) {
    List<Long> expected =
        traces.isEmpty()
            ? List.of()
            : Arrays.stream(traces.split(" ", -1)).map(Long::valueOf).toList();

    assertThat(found(of(text, null, null, 0, 0))).isEqualTo(expected);
  }

  @Test
  void filters_areCombined() {
    assertThat(found(of("", Status.ERROR, null, 0, 0))).containsExactly(3L);
    assertThat(found(of("", null, "llama", 0, 0))).containsExactly(1L);
    assertThat(found(of("", null, null, 60, 0))).containsExactly(2L, 1L);
    assertThat(found(of("", null, null, 0, 100))).containsExactly(2L);
    assertThat(found(of("qwen", Status.OK, null, 60, 0))).containsExactly(2L);
  }

  @ParameterizedTest
  @CsvSource({
    "took, '2 1 3 11259375'",
    "took:asc, '11259375 3 1 2'",
    "ttft, '2 11259375 3 1'",
    "ttft:asc, '2 11259375 3 1'",
    "spans, '2 11259375 3 1'",
    "name, '3 2 1 11259375'",
  })
  void orders_putRequestsWithoutValueLast(String name, String traces) {
    Query query =
        new Query("", null, null, 0, 0, LAST, 10, Objects.requireNonNull(Order.named(name)));

    assertThat(found(query)).map(String::valueOf).containsExactly(traces.split(" ", -1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"took:desc", "ttft ", ":asc", "cost"})
  void unknownOrder_isNull(String name) {
    assertThat(Order.named(name)).isNull();
  }

  @Test
  void pages_followEachOther() {
    Query.Result first = new Query("", null, null, 0, 0, LAST, 2, Order.CHANGES).in(store.list());
    long before = first.found().getLast().seq();
    Query.Result second =
        new Query("", null, null, 0, 0, before, 2, Order.CHANGES).in(store.list());

    assertThat(first.matched()).isEqualTo(4);
    assertThat(first.found()).hasSize(2);
    assertThat(second.matched()).isEqualTo(4);
    assertThat(second.found()).hasSize(2).doesNotContainAnyElementsOf(first.found());
  }
}
