package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Limits of requests, folds and single spans: beyond them, events are written early, not lost. */
class EventSinkBoundsTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private FakeKernel kernel(FoldOptions.Bounds bounds) {
    FoldOptions defaults = FoldOptions.defaults();
    return new FakeKernel(
        tracing,
        new FoldOptions(defaults.thresholdNanos(), 0, false, bounds, FoldOptions.Times.defaults()));
  }

  private static EventBytes of(FakeKernel kernel, long request) {
    return EventBytes.of(Kind.CUDA_LAUNCH)
        .under(request)
        .by(1, 1)
        .from(kernel.now - MICRO, kernel.now);
  }

  private long written() {
    return tracing.spans().stream()
        .mapToLong(
            span -> span.attribute("inferspan.ebpf.count") instanceof Long count ? count : 1L)
        .sum();
  }

  @Test
  void requestBeyondTheLimit_evictsTheLeastRecentlyUsed() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(3, 100, 10, 10));
    for (long request = 1; request <= 3; request++) {
      kernel.happens(of(kernel, request)).happens(of(kernel, request));
    }
    kernel.happens(of(kernel, 1));

    kernel.happens(of(kernel, 4));

    assertThat(tracing.spans())
        .extracting(SpanRecord::traceId)
        .containsExactly("00000000000000070000000000000002");
    assertThat(kernel.sink.openRequests()).isEqualTo(3);
    assertThat(kernel.sink.accounting().evicted()).isOne();
    kernel.sink.flush();
    assertThat(written()).isEqualTo(8);
    EventSinkTest.assertBalance(kernel.sink.accounting());
  }

  @Test
  void requestBeyondTheLimit_evictsWrittenRequests() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(2, 100, 10, 10));
    for (long request = 1; request <= 2; request++) {
      kernel.happens(EventBytes.of(Kind.OWNER_BEGAN).under(request));
      kernel.happens(of(kernel, request)).pass(3_000 * MILLI);
    }
    assertThat(written()).isEqualTo(2);

    kernel.happens(of(kernel, 3)).happens(of(kernel, 4));

    assertThat(written()).isEqualTo(2);
    assertThat(kernel.sink.openRequests()).isEqualTo(2);
    assertThat(kernel.sink.accounting().evicted()).isEqualTo(2);
    kernel.sink.flush();
    assertThat(written()).isEqualTo(4);
  }

  @Test
  void endedRequest_isEvictedFirst() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(2, 100, 10, 10));
    kernel.happens(of(kernel, 1)).happens(of(kernel, 2));
    kernel.happens(EventBytes.of(Kind.OWNER_ENDED).under(2));

    kernel.happens(of(kernel, 3));

    assertThat(tracing.spans())
        .extracting(SpanRecord::traceId)
        .containsExactly("00000000000000070000000000000002");
  }

  @Test
  void detailsBeyondTheLimit_areFoldedByKind() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(10, 1_000, 4, 10));
    for (int i = 0; i < 40; i++) {
      kernel.happens(of(kernel, 1).of(1, i % 20, 0));
      kernel.happens(EventBytes.of(Kind.CUDA_INIT).under(1).by(i, 1).from(1, 2));
    }
    kernel.sink.flush();

    assertThat(tracing.spans()).hasSize(4 + 2);
    assertThat(written()).isEqualTo(80);
    List<SpanRecord> mixed =
        tracing.spans().stream().filter(s -> s.attribute("process.pid") == null).toList();
    assertThat(mixed)
        .extracting(SpanRecord::name)
        .containsExactlyInAnyOrder("cuda.launch (folded)", "cuda.init (folded)");
    assertThat(mixed).noneMatch(s -> s.attributes().containsKey("inferspan.ebpf.cuda.stream"));
  }

  @Test
  void foldBeyondTheLimit_evictsARequest() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(10, 3, 10, 10));
    for (long request = 1; request <= 4; request++) {
      kernel.happens(of(kernel, request)).happens(of(kernel, request));
    }

    assertThat(tracing.spans()).hasSize(1);
    kernel.sink.flush();
    assertThat(written()).isEqualTo(8);
    EventSinkTest.assertBalance(kernel.sink.accounting());
  }

  @Test
  void requestWithMoreFoldsThanTheLimit_isWrittenInPieces() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(10, 3, 10, 10));
    for (int i = 0; i < 7; i++) {
      kernel.happens(of(kernel, 1).of(1, i, 0));
    }
    kernel.sink.flush();

    assertThat(written()).isEqualTo(7);
    EventSinkTest.assertBalance(kernel.sink.accounting());
  }

  @Test
  void slowEventsBeyondTheLimit_areFolded() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(10, 100, 10, 5));
    for (int i = 0; i < 12; i++) {
      kernel.happens(Kind.CUDA_DEVICE_SYNC, 2 * MILLI);
    }
    kernel.sink.flush();

    assertThat(tracing.spans()).hasSize(6);
    assertThat(written()).isEqualTo(12);
  }

  @Test
  void requestsThatEndTogether_areAllWritten() {
    FakeKernel kernel = kernel(new FoldOptions.Bounds(5_000, 10_000, 10, 5));
    for (long request = 1; request <= 2_000; request++) {
      kernel.happens(of(kernel, request));
    }
    for (long request = 1; request <= 2_000; request += 2) {
      kernel.happens(EventBytes.of(Kind.OWNER_ENDED).under(request));
    }
    kernel.pass(300 * MILLI);
    assertThat(written()).isEqualTo(1_000);
    assertThat(kernel.sink.openRequests()).isEqualTo(1_000);

    kernel.pass(3_000 * MILLI);
    assertThat(written()).isEqualTo(2_000);
    assertThat(kernel.sink.openRequests()).isZero();
  }

  @Test
  void invalidOptions_areRefused() {
    assertThatThrownBy(() -> new FoldOptions.Bounds(0, 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("requests is 0, but must be from 1 to 1048576");
    assertThatThrownBy(() -> new FoldOptions.Times(1, 0, 1, 1))
        .hasMessageStartingWith("quietNanos is 0, but must be from 1");
  }
}
