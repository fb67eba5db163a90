package io.inferspan.samples.desk.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.inferspan.catalog.KernelSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.semconv.KernelAttributes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlameTest {

  private static final long MILLI = 1_000_000;
  private static final int REQUEST_MILLIS = 100;

  private final List<TestSpan> spans =
      new ArrayList<>(
          List.of(TestSpan.named("request", "engine").id(1, 1, 0).at(0, REQUEST_MILLIS)));

  @Test
  void waitWithThreeSpans_countsOnce() {
    call(KernelSpans.CUDA, "stream_sync", 7).at(10, 16);
    call(KernelSpans.SYSCALL, "epoll_wait", 7).at(10.5, 15.5);
    call(KernelSpans.SCHED, "offcpu", 7).at(11, 15);

    Flame flame = flame();

    assertThat(flame.total()).isEqualTo(6 * MILLI);
    Flame wait = only(only(only(flame)));
    assertThat(wait.name()).isEqualTo("cuda.stream_sync");
    assertThat(only(wait).name()).isEqualTo("syscall.epoll_wait");
    assertThat(only(wait).total()).isEqualTo(5 * MILLI);
    assertThat(only(only(wait)).total()).isEqualTo(4 * MILLI);
    assertThat(only(only(wait)).kind()).isEqualTo(Flame.Kind.KERNEL);
    assertThat(wait.kind()).isEqualTo(Flame.Kind.GPU);
  }

  @Test
  void waitsOfSeveralThreads_addUp() {
    call(KernelSpans.SYSCALL, "read", 7).at(10, 50);
    call(KernelSpans.SCHED, "offcpu", 7).at(10, 50);
    call(KernelSpans.SYSCALL, "read", 8).at(10, 50);

    assertThat(flame().total()).isEqualTo(80 * MILLI);
  }

  @Test
  void foldedWaits_areInsideTheCallsThatTheyName() {
    folded(KernelSpans.SYSCALL, "epoll_wait", 50);
    folded(KernelSpans.SCHED, "offcpu", 48).with(KernelAttributes.THREAD_SYSCALL, "epoll_wait");
    folded(KernelSpans.CUDA, "stream_sync", 20);
    folded(KernelSpans.SCHED, "offcpu", 30);

    Flame flame = flame();

    assertThat(flame.total()).isEqualTo(80 * MILLI);
    Flame families = only(flame);
    assertThat(families.children())
        .extracting(Flame::name, Flame::total)
        .containsExactlyInAnyOrder(
            tuple("cuda", 20 * MILLI), tuple("syscall", 50 * MILLI), tuple("sched", 10 * MILLI));
  }

  @Test
  void totalTime_isAtMostWallTimeTimesThreads() {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      spans.subList(1, spans.size()).clear();
      int threads = 1 + random.nextInt(3);
      for (int thread = 0; thread < threads; thread++) {
        call(KernelSpans.SYSCALL, "read", thread + 1).at(0, 1);
      }
      for (int i = random.nextInt(20); i > 0; i--) {
        SpanType type =
            List.of(KernelSpans.CUDA, KernelSpans.SYSCALL, KernelSpans.SCHED)
                .get(random.nextInt(3));
        if (random.nextBoolean()) {
          folded(type, "x", random.nextInt(REQUEST_MILLIS));
        } else {
          double from = random.nextInt(REQUEST_MILLIS);
          call(type, "x", 1 + random.nextInt(threads))
              .at(from, from + random.nextInt(REQUEST_MILLIS - (int) from));
        }
      }

      assertThat(flame().total())
          .isLessThanOrEqualTo(threads * (REQUEST_MILLIS * MILLI))
          .isGreaterThanOrEqualTo(threads * MILLI);
    }
  }

  @Test
  void recordedStacks_areThoseOfTheTrace(@TempDir Path directory) throws IOException {
    String trace = "00000000000000000000000000000001";
    Files.writeString(
        directory.resolve("all.folded"),
        "trace %s;server;main;do_syscall_64_[k] 3\nno trace;server;main 9\n".formatted(trace)
            + "trace %s2;server;main 5\nbroken\n".formatted(trace.substring(1)));
    Files.writeString(
        directory.resolve("later.folded"),
        "trace %s;server;main;cuLaunchKernel;-;gemm_[G];0x40_[g] 4\n".formatted(trace));

    RecordedStacks stacks = new RecordedStacks(directory);
    Flame flame = Objects.requireNonNull(stacks.of(Objects.requireNonNull(TraceId.parse(trace))));

    assertThat(flame.total()).isEqualTo(7);
    Flame main = only(only(flame));
    assertThat(main.children())
        .extracting(Flame::name)
        .containsExactlyInAnyOrder("do_syscall_64_[k]", "cuLaunchKernel");
    assertThat(Stream.of("main", "f_[k]", "gemm_[G]", "0x1_[g]", "-").map(Flame.Kind::ofFunction))
        .containsExactly(
            Flame.Kind.CPU, Flame.Kind.KERNEL, Flame.Kind.GPU, Flame.Kind.GPU, Flame.Kind.NONE);
    assertThat(stacks.of(Objects.requireNonNull(TraceId.parse("f".repeat(32))))).isNull();
    assertThat(new RecordedStacks(null).of(Objects.requireNonNull(TraceId.parse(trace)))).isNull();
  }

  @Test
  void overlappingCalls_doNotMakeADeepGraph() {
    for (int i = 0; i < 2_000; i++) {
      call(KernelSpans.SYSCALL, "read" + i, 7).at(i / 100.0, 50 + i / 100.0);
    }

    Flame flame = flame();

    assertThat(depth(flame)).isLessThan(50);
    assertThat(flame.total()).isEqualTo(70 * MILLI - 10_000);
  }

  private static int depth(Flame frame) {
    return 1 + frame.children().stream().mapToInt(FlameTest::depth).max().orElse(0);
  }

  private TestSpan call(SpanType type, String call, long thread) {
    return add(type, call).with(KernelAttributes.THREAD_ID, thread);
  }

  private TestSpan folded(SpanType type, String call, long millis) {
    return add(type, call + " (folded)")
        .at(0, REQUEST_MILLIS)
        .with(KernelAttributes.COUNT, 100L)
        .with(KernelAttributes.DURATION_SUM_NS, millis * MILLI);
  }

  private TestSpan add(SpanType type, String detail) {
    TestSpan span = TestSpan.of(type, detail, "engine").id(1, spans.size() + 1, 1);
    spans.add(span);
    return span;
  }

  private Flame flame() {
    return Objects.requireNonNull(Traces.view(spans).flame());
  }

  private static Flame only(Flame frame) {
    assertThat(frame.children()).hasSize(1);
    return frame.children().getFirst();
  }
}
