package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.testing.SpanRecord;
import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private final List<SpanRecord> spans = new ArrayList<>();

  @Test
  void schedulerSpans_areOmitted_andTheirChildrenMoveUp() {
    span("1", "", "gateway.request", 100);
    span("2", "1", EppSpans.PROFILE_RUN.name(SpanNaming.PROPOSAL), 10);
    span("3", "2", EppSpans.SCORING.name(SpanNaming.PROPOSAL), 9);
    span("4", "3", EppSpans.SCORER_PREFIX_CACHE.name(SpanNaming.PROPOSAL), 8);

    assertThat(tree())
        .isEqualTo(
            """
            gateway.request (100.0 ms) [s]
            └── llm_d.epp.scorer.prefix_cache (8.00 ms)
            (2 more spans are only on the trace desk)
            """);
  }

  @Test
  void kernelSpans_areLimited_toDeviceSpansAndThenTheLongest() {
    span("1", "", "llm_d.pd_proxy.prefill", 100);
    for (int i = 2; i <= 9; i++) {
      span(Integer.toString(i), "1", i < 4 ? "cuda.launch" : "syscall.read", i);
    }

    assertThat(tree())
        .contains("launch (2.00 ms)", "launch (3.00 ms)", "read (9.00 ms)", "(5 more spans ")
        .doesNotContain("(8.00 ms)");
  }

  @Test
  void foldedSpan_isRankedByTheTotalTimeOfItsCalls() {
    span("1", "", "llm_d.pd_proxy.decode", 400);
    span("2", "1", "cuda.stream_sync", 67);
    span("3", "1", "cuda.stream_sync", 28);
    span("4", "1", "cuda.memcpy_h2d", 1);
    span("5", "1", "cuda.launch (folded)", 273, folded(51, 130_000));

    assertThat(tree()).contains("memcpy_h2d (1.00 ms)").doesNotContain("launch");

    spans.remove(2);
    assertThat(tree()).contains("cuda.launch ×51, Σ 0.130 ms\n").doesNotContain("273");
  }

  private static Map<String, Object> folded(long count, long sumNanos) {
    return Map.of(
        KernelAttributes.COUNT.key().getKey(), count,
        KernelAttributes.DURATION_SUM_NS.key().getKey(), sumNanos);
  }

  @Test
  void smallTrace_isShownCompletely() {
    span("1", "", "gateway.request", 1);

    assertThat(tree()).isEqualTo("gateway.request (1.00 ms) [s]\n");
  }

  private String tree() {
    return new Report(new Trace(TRACE, "ok", "", spans)).tree();
  }

  private void span(String id, String parent, String name, long millis) {
    span(id, parent, name, millis, Map.of());
  }

  private void span(
      String id, String parent, String name, long millis, Map<String, Object> attributes) {
    spans.add(
        new SpanRecord(
            TRACE,
            id,
            parent,
            1,
            "",
            name,
            SpanKind.INTERNAL,
            0,
            millis * 1_000_000,
            attributes,
            List.of(),
            List.of(),
            SpanRecord.Status.UNSET,
            SpanRecord.Scope.named("t"),
            Map.of("service.name", "s")));
  }
}
