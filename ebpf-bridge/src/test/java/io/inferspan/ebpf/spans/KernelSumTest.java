package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static io.inferspan.ebpf.spans.FakeKernel.OWNER;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Spans of calls that a capture policy or a detail level folded, counted or dropped. */
class KernelSumTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  @Test
  void foldedCalls_haveOneSpanWithTheirExactCountAndSum() {
    kernel.happens(kernel.named(Kind.OWNER_BEGAN));
    long began = kernel.now;
    kernel.pass(MILLI);
    kernel.sums.add(OWNER, 1_234, 0, began + MICRO, kernel.now);
    kernel.endRequest();

    SpanRecord span = only();
    assertThat(span.name()).isEqualTo("cuda.launch (folded)");
    assertThat(span.traceId()).isEqualTo(FakeKernel.TRACE_TEXT);
    assertThat(span.attributes())
        .containsEntry("inferspan.ebpf.count", 1_234L)
        .containsEntry("inferspan.ebpf.duration.sum_ns", 1_234L * MICRO)
        .containsEntry("inferspan.ebpf.offset.first_ns", MICRO)
        .containsEntry("inferspan.ebpf.policy.generation", 3L)
        .containsEntry("inferspan.ebpf.source", "http")
        .doesNotContainKeys("inferspan.ebpf.duration.p50_ns", "inferspan.ebpf.coverage");
  }

  @Test
  void droppedCalls_lowerTheCoverageOfEachSpanOfTheRequest() {
    kernel.happens(kernel.event(Kind.CUDA_LAUNCH, MICRO).judged(3));
    kernel.sums.add(OWNER, 0, 3, kernel.now, kernel.now);
    kernel.endRequest();

    assertThat(only().attributes())
        .containsEntry("inferspan.ebpf.policy.generation", 3L)
        .containsEntry("inferspan.ebpf.dropped", 3L)
        .containsEntry("inferspan.ebpf.coverage", 0.25);
  }

  @Test
  void countedCalls_haveASpanWithTheirNumberAndNoDuration() {
    kernel.happens(kernel.named(Kind.OWNER_BEGAN));
    kernel.sums.generation = 0;
    kernel.sums.add(OWNER, 0, 7, kernel.now, kernel.now);
    kernel.endRequest();

    assertThat(only().name()).isEqualTo("cuda.launch (folded)");
    assertThat(only().attributes())
        .containsEntry("inferspan.ebpf.count", 7L)
        .doesNotContainKeys("inferspan.ebpf.duration.sum_ns", "inferspan.ebpf.dropped");
  }

  @Test
  void sumsOfAnOwnerWithoutEvents_areWritten() {
    long span = Owner.ofSpan(FakeKernel.TRACE_HIGH, FakeKernel.TRACE_LOW, FakeKernel.SPAN);
    kernel.happens(kernel.named(Kind.OWNER_BEGAN).under(span));
    kernel.pass(1_000 * MILLI);
    kernel.sums.add(span, 5, 0, kernel.now, kernel.now);
    kernel.pass(1_000 * MILLI);
    kernel.pass(5_000 * MILLI);

    assertThat(only().attributes()).containsEntry("inferspan.ebpf.count", 5L);
  }

  private SpanRecord only() {
    List<SpanRecord> spans = tracing.spans();
    assertThat(spans).hasSize(1);
    return spans.getFirst();
  }
}
