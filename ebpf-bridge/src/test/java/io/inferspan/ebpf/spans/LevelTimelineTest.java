package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Coverage and levels on spans of a time in which event classes were not in full detail. */
class LevelTimelineTest {

  private static final DetailLevels ASLEEP =
      DetailLevels.FULL
          .with(EventClass.SCHED, DetailLevel.DETACHED)
          .with(EventClass.CALLS, DetailLevel.DETACHED)
          .with(EventClass.LAUNCHES, DetailLevel.DETACHED);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  private SpanRecord only(String name) {
    List<SpanRecord> named =
        tracing.spans().stream().filter(span -> span.name().equals(name)).toList();
    assertThat(named).hasSize(1);
    return named.get(0);
  }

  @Test
  void requestThatBeganWhileProbesWereDetached_hasTheCoverageOfItsTime() {
    kernel.sink.levels().note(ASLEEP, kernel.now - 1_000 * MILLI);
    kernel.happens(Kind.OWNER_BEGAN, 0);
    kernel.pass(30 * MILLI);
    kernel.sink.levels().note(DetailLevels.FULL, kernel.now);
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
  void ownRequestThatBeganWhileProbesWereDetached_hasTheCoverageOfItsTime() {
    kernel.sink.levels().note(ASLEEP, kernel.now);
    kernel.sink.beganUnseen(FakeKernel.OWNER);
    kernel.now += 50 * MILLI;
    kernel.sink.levels().note(DetailLevels.FULL, kernel.now);
    kernel.now += 50 * MILLI;
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.pass(0);
    kernel.sink.flush();

    assertThat(only("cuda.alloc").attributes()).containsEntry("inferspan.ebpf.coverage", 0.5);
  }

  @Test
  void requestsBeforeAndAfterASleep_haveNoCoverage() {
    kernel.happens(Kind.CUDA_FREE, MICRO);
    kernel.endRequest();
    kernel.sink.levels().note(ASLEEP, kernel.now);
    kernel.pass(50 * MILLI);
    kernel.sink.levels().note(DetailLevels.FULL, kernel.now);
    kernel.pass(MILLI);
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.free").attributes()).doesNotContainKey("inferspan.ebpf.coverage");
    assertThat(only("cuda.alloc").attributes()).doesNotContainKey("inferspan.ebpf.coverage");
  }

  @Test
  void loweredClass_isOnEverySpanWithItsLowestLevel() {
    kernel.happens(Kind.OWNER_BEGAN, 0);
    kernel.sink.levels().note(scheduler(DetailLevel.FOLDED), kernel.now);
    kernel.pass(MILLI);
    kernel.sink.levels().note(scheduler(DetailLevel.SAMPLED), kernel.now);
    kernel.pass(MILLI);
    kernel.happens(Kind.CUDA_FREE, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.free").attributes())
        .containsEntry("inferspan.ebpf.level", "sched:folded")
        .doesNotContainKey("inferspan.ebpf.coverage");
  }

  @Test
  void detachedScheduler_lowersOnlyTheCoverageOfItsSpans() {
    kernel.happens(Kind.OWNER_BEGAN, 0);
    kernel.sink.levels().note(scheduler(DetailLevel.DETACHED), kernel.now);
    kernel.pass(25 * MILLI);
    kernel.sink.levels().note(DetailLevels.FULL, kernel.now);
    kernel.pass(75 * MILLI);
    kernel.happens(Kind.SCHED_OFFCPU, MICRO);
    kernel.happens(Kind.CUDA_FREE, 0);
    kernel.endRequest();

    assertThat(only("sched.offcpu").attributes())
        .containsEntry("inferspan.ebpf.level", "sched:detached")
        .containsEntry("inferspan.ebpf.coverage", 0.75);
    assertThat(only("cuda.free").attributes())
        .containsEntry("inferspan.ebpf.level", "sched:detached")
        .doesNotContainKey("inferspan.ebpf.coverage");
  }

  @Test
  void changeBeyondTheHistory_isForgotten() {
    LevelTimeline timeline = new LevelTimeline();
    timeline.note(ASLEEP, 1);
    for (int i = 2; i <= 100; i++) {
      timeline.note(DetailLevels.FULL, i);
    }

    assertThat(timeline.during(1, 100)).isEqualTo(new LevelTimeline.Seen("", 1, 1, 1, 1));
  }

  private static DetailLevels scheduler(DetailLevel level) {
    return DetailLevels.FULL.with(EventClass.SCHED, level);
  }
}
