package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that have no events for some time. */
class QuietRequestTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  @Test
  void requestAfterAQuietTime_keepsItsStartAndItsCountOfFirstEvents() {
    kernel.happens(kernel.event(Kind.OWNER_BEGAN, 0));
    long began = kernel.now;
    kernel.pass(MICRO);
    for (int i = 0; i < 3; i++) {
      kernel.happens(Kind.CUDA_LAUNCH, MICRO);
    }
    kernel.pass(5_000 * MILLI);
    assertThat(named("cuda.launch")).hasSize(3);
    assertThat(kernel.sink.openRequests()).isZero();
    assertThat(kernel.sink.isAtRest()).isTrue();

    long resumed = kernel.now;
    kernel.happens(Kind.CUDA_LAUNCH, 0).happens(Kind.CUDA_LAUNCH, 0);
    assertThat(kernel.sink.openRequests()).isOne();
    kernel.endRequest();

    assertThat(named("cuda.launch")).hasSize(4);
    assertThat(folds("cuda.launch").get(0).attributes())
        .containsEntry("inferspan.ebpf.count", 2L)
        .containsEntry("inferspan.ebpf.offset.first_ns", resumed - began);
    assertThat(kernel.sink.openRequests()).isZero();
  }

  @Test
  void requestWhoseEndIsNeverReported_isForgotten() {
    kernel.happens(kernel.event(Kind.OWNER_BEGAN, 0));
    kernel.pass(299_000 * MILLI).pass(2_000 * MILLI);

    kernel.happens(Kind.CUDA_LAUNCH, 0).happens(Kind.CUDA_LAUNCH, 0);
    kernel.happens(Kind.CUDA_LAUNCH, 0).happens(Kind.CUDA_LAUNCH, 0);
    kernel.happens(Kind.CUDA_LAUNCH, 0);
    kernel.endRequest();

    assertThat(folds("cuda.launch").get(0).attributes())
        .containsEntry("inferspan.ebpf.offset.first_ns", 0L);
  }

  private List<SpanRecord> named(String name) {
    return tracing.spans().stream()
        .filter(span -> SpanCatalog.unfolded(span.name()).equals(name))
        .toList();
  }

  private List<SpanRecord> folds(String name) {
    return named(name).stream().filter(s -> s.attribute("inferspan.ebpf.count") != null).toList();
  }
}
