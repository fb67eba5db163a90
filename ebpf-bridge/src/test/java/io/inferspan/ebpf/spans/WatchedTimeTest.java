package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What spans say of a time in which probes were off. */
class WatchedTimeTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  private SpanRecord only(String name) {
    List<SpanRecord> named =
        tracing.spans().stream().filter(span -> span.name().equals(name)).toList();
    assertThat(named).hasSize(1);
    return named.get(0);
  }

  @Test
  void requestThatBeganWhileProbesWereOff_saysHowMuchOfItWasSeen() {
    kernel.sink.watchedTime().pause(kernel.now - 1_000 * MILLI);
    kernel.happens(Kind.OWNER_BEGAN, 0);
    kernel.pass(30 * MILLI);
    kernel.sink.watchedTime().resume(kernel.now);
    kernel.pass(70 * MILLI);
    kernel.happens(Kind.CUDA_FREE, 6 * MILLI);
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.free").attributes())
        .containsEntry("inferspan.ebpf.coverage", 0.7)
        .doesNotContainKey("inferspan.ebpf.dropped");
    assertThat(only("cuda.alloc").attributes()).containsEntry("inferspan.ebpf.coverage", 0.7);
  }

  @Test
  void ownRequestThatBeganWhileProbesWereOff_saysSoToo() {
    kernel.sink.watchedTime().pause(kernel.now);
    kernel.sink.beganUnseen(FakeKernel.OWNER);
    kernel.now += 50 * MILLI;
    kernel.sink.watchedTime().resume(kernel.now);
    kernel.now += 50 * MILLI;
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.pass(0);
    kernel.sink.flush();

    assertThat(only("cuda.alloc").attributes()).containsEntry("inferspan.ebpf.coverage", 0.5);
  }

  @Test
  void requestsBeforeAndAfterASleep_sayNothing() {
    kernel.happens(Kind.CUDA_FREE, MICRO);
    kernel.endRequest();
    kernel.sink.watchedTime().pause(kernel.now);
    kernel.pass(50 * MILLI);
    kernel.sink.watchedTime().resume(kernel.now);
    kernel.pass(MILLI);
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.free").attributes()).doesNotContainKey("inferspan.ebpf.coverage");
    assertThat(only("cuda.alloc").attributes()).doesNotContainKey("inferspan.ebpf.coverage");
  }
}
