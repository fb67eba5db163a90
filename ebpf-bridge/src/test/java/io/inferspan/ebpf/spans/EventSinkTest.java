package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static io.inferspan.ebpf.spans.FakeKernel.OFFSET;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.spans.SpanAccounting.Drop;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events of a request as spans of their own and as folds. */
class EventSinkTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  @AfterEach
  void accountingBalances() {
    assertBalance(kernel.sink.accounting());
  }

  static void assertBalance(SpanAccounting counts) {
    assertThat(
            counts.emitted()
                + counts.folded()
                + counts.control()
                + counts.dropped()
                + counts.held())
        .isEqualTo(counts.consumed());
  }

  private List<SpanRecord> named(String name) {
    return tracing.spans().stream()
        .filter(span -> SpanCatalog.unfolded(span.name()).equals(name))
        .toList();
  }

  private SpanRecord only(String name) {
    assertThat(named(name)).hasSize(1);
    return named(name).get(0);
  }

  @Test
  void event_isAChildSpanWithTheTimesOfTheKernel() {
    long start = kernel.now - 1_500;
    kernel.happens(kernel.event(Kind.CUDA_MEMCPY_H2D, 1_500).of(4_096, 0x7f00_1234L, 0).result(0));
    kernel.endRequest();

    SpanRecord span = only("cuda.memcpy_h2d");
    assertThat(span.traceId()).isEqualTo(FakeKernel.TRACE_TEXT);
    assertThat(span.parentSpanId()).isEqualTo(FakeKernel.SPAN_TEXT);
    assertThat(span.startEpochNanos()).isEqualTo(start + OFFSET);
    assertThat(span.endEpochNanos()).isEqualTo(start + OFFSET + 1_500);
    assertThat(span.attributes())
        .containsEntry("process.pid", 100L)
        .containsEntry("thread.id", 101L)
        .containsEntry("inferspan.ebpf.source", "http")
        .containsEntry("inferspan.ebpf.bytes", 4_096L)
        .containsEntry("inferspan.ebpf.result", 0L)
        .containsKey("inferspan.ebpf.cuda.stream")
        .doesNotContainKeys("inferspan.ebpf.count", "inferspan.ebpf.dropped");
    assertThat(span.attributes().toString()).doesNotContain("7f001234");
    assertThat(span.scopeName()).isEqualTo("inferspan.ebpf");
    assertThat(span.isError()).isFalse();
  }

  @Test
  void span_hasItsProcessContainerAndPod() {
    ProcessIdentity engine = new ProcessIdentity("python3.11", "c1", "p1", null);
    kernel.processes.put(100, engine);
    kernel.happens(Kind.CUDA_FREE, MICRO);
    kernel.processes.clear(); // The process exits before its spans are written.
    kernel.happens(kernel.event(Kind.PROCESS_EXITED, 0));
    kernel.endRequest();

    assertThat(only("cuda.free").attributes())
        .containsEntry("process.executable.name", "python3.11")
        .containsEntry("container.id", "c1")
        .containsEntry("k8s.pod.uid", "p1");

    kernel.processes.put(100, new ProcessIdentity("bash", null, null, null)); // The pid is reused.
    kernel.happens(Kind.CUDA_ALLOC, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.alloc").attributes())
        .containsEntry("process.executable.name", "bash")
        .doesNotContainKeys("container.id", "k8s.pod.uid");
  }

  @Test
  void repeatedEvents_areFoldedAfterTheFirstFew() {
    kernel.happens(kernel.event(Kind.OWNER_BEGAN, 0));
    long began = kernel.now;
    for (int i = 1; i <= 103; i++) {
      kernel.pass(10 * MICRO);
      kernel.happens(kernel.event(Kind.CUDA_LAUNCH, 10L * i).of(2, 0, 0));
    }
    long lastStart = kernel.now - 1_030;
    kernel.endRequest();

    List<SpanRecord> spans = named("cuda.launch");
    assertThat(spans).hasSize(4);
    SpanRecord fold = spans.get(3);
    assertThat(spans)
        .extracting(SpanRecord::name)
        .containsExactly("cuda.launch", "cuda.launch", "cuda.launch", "cuda.launch (folded)");
    assertThat(fold.attributes())
        .containsEntry("inferspan.ebpf.count", 100L)
        .containsEntry("inferspan.ebpf.duration.sum_ns", 53_500L)
        .containsEntry("inferspan.ebpf.duration.min_ns", 40L)
        .containsEntry("inferspan.ebpf.duration.max_ns", 1_030L)
        .containsEntry("inferspan.ebpf.offset.first_ns", 4 * 10 * MICRO - 40)
        .containsEntry("inferspan.ebpf.offset.last_ns", lastStart - began)
        .containsEntry("inferspan.ebpf.cuda.blocks", 200L)
        .containsEntry("inferspan.ebpf.cuda.stream", "default")
        .doesNotContainKeys("thread.id", "inferspan.ebpf.result");
    assertThat((Long) fold.attribute("inferspan.ebpf.duration.p50_ns")).isBetween(510L, 550L);
    assertThat((Long) fold.attribute("inferspan.ebpf.duration.p99_ns")).isBetween(985L, 1_030L);
    assertThat(fold.endEpochNanos()).isEqualTo(began + 103 * 10 * MICRO + OFFSET);
    assertThat(kernel.sink.accounting().folded()).isEqualTo(100);
    assertThat(kernel.sink.accounting().emitted()).isEqualTo(3);
    assertThat(kernel.sink.accounting().folds()).isOne();
  }

  @Test
  void slowEvent_hasASpanOfItsOwn() {
    for (int i = 0; i < 5; i++) {
      kernel.happens(Kind.CUDA_STREAM_SYNC, MICRO);
    }
    kernel.happens(Kind.CUDA_STREAM_SYNC, MILLI - 1).happens(Kind.CUDA_STREAM_SYNC, MILLI);
    kernel.endRequest();

    assertThat(named("cuda.stream_sync"))
        .filteredOn(span -> span.attribute("inferspan.ebpf.count") == null)
        .extracting(span -> span.endEpochNanos() - span.startEpochNanos())
        .containsExactly(MICRO, MICRO, MICRO, MILLI);
    assertThat(named("cuda.stream_sync"))
        .extracting(span -> span.attribute("inferspan.ebpf.count"))
        .contains(3L);
  }

  @Test
  void foldOfOneEvent_isWrittenAsASingleSpan() {
    for (int i = 0; i < 4; i++) {
      kernel.happens(Kind.CUDA_INIT, MICRO);
    }
    kernel.endRequest();

    assertThat(named("cuda.init")).hasSize(4).allMatch(s -> s.attribute("thread.id") != null);
    assertThat(kernel.sink.accounting().emitted()).isEqualTo(4);
    assertThat(kernel.sink.accounting().folded()).isZero();
  }

  @Test
  void differentStreamsDescriptorsAndProcesses_areNotFoldedTogether() {
    for (int i = 0; i < 23; i++) {
      kernel.happens(kernel.event(Kind.CUDA_LAUNCH, 10).of(1, i % 2, 0));
      kernel.happens(kernel.event(Kind.SYSCALL_READ, 10).of(1, (long) i << 32 | 1 + i % 2, 0));
      kernel.happens(kernel.event(Kind.CUDA_FREE, 10).by(100 + i % 2, 1));
    }
    kernel.endRequest();

    assertThat(folds("cuda.launch"))
        .extracting(s -> s.attribute("inferspan.ebpf.cuda.stream"))
        .hasSize(2)
        .doesNotHaveDuplicates();
    assertThat(folds("syscall.read"))
        .extracting(s -> s.attribute("inferspan.ebpf.fd.kind"))
        .containsExactlyInAnyOrder("file", "inet");
    assertThat(folds("cuda.free"))
        .extracting(s -> s.attribute("process.pid"))
        .containsExactlyInAnyOrder(100L, 101L);
  }

  @Test
  void eventsWithDifferentSources_areNotFoldedTogether() {
    for (int i = 0; i < 23; i++) {
      kernel.happens(kernel.event(Kind.CUDA_FREE, 10).known(2 + i % 2, 0));
    }
    kernel.endRequest();

    assertThat(folds("cuda.free"))
        .extracting(s -> s.attribute("inferspan.ebpf.source"))
        .containsExactlyInAnyOrder("http", "inherited");
  }

  private List<SpanRecord> folds(String name) {
    return named(name).stream().filter(s -> s.attribute("inferspan.ebpf.count") != null).toList();
  }

  @Test
  void nothingIsWritten_beforeTheRequestEnds() {
    kernel.happens(Kind.CUDA_INIT, MICRO).pass(MILLI);

    assertThat(tracing.spans()).isEmpty();
    assertThat(kernel.sink.openRequests()).isOne();
    assertThat(kernel.sink.accounting().held()).isOne();
  }

  @Test
  void eventDuringTheGraceTime_isWrittenWithItsRequest() {
    kernel.happens(Kind.CUDA_INIT, MICRO).happens(Kind.OWNER_ENDED, 0);
    kernel.pass(150 * MILLI).happens(Kind.CUDA_FREE, MICRO);
    assertThat(tracing.spans()).isEmpty();

    kernel.pass(60 * MILLI);

    assertThat(tracing.spans()).extracting(SpanRecord::name).contains("cuda.init", "cuda.free");
    assertThat(kernel.sink.openRequests()).isZero();
  }

  @Test
  void eventAfterTheGraceTime_isWrittenAfterAQuietTime() {
    kernel.happens(Kind.CUDA_INIT, MICRO);
    kernel.endRequest();
    kernel.happens(Kind.CUDA_FREE, MICRO);

    kernel.pass(1_999 * MILLI);
    assertThat(named("cuda.free")).isEmpty();
    kernel.pass(10 * MILLI);

    assertThat(only("cuda.free").traceId()).isEqualTo(FakeKernel.TRACE_TEXT);
  }

  @Test
  void foldOfUnorderedEvents_lastsFromTheFirstToTheLast() {
    long base = kernel.now;
    for (int i = 20; i > 0; i--) {
      kernel.happens(kernel.event(Kind.CUDA_FREE, 0).from(base - i * 50 % 970, base));
    }
    kernel.endRequest();

    SpanRecord fold = folds("cuda.free").get(0);
    assertThat(fold.startEpochNanos()).isEqualTo(base - 850 + OFFSET);
    assertThat(fold.endEpochNanos()).isEqualTo(base + OFFSET);
  }

  @Test
  void longRequest_isWrittenInPiecesWithFirstFewSpansOnlyOnce() {
    for (int second = 0; second < 25; second++) {
      for (int i = 0; i < 10; i++) {
        kernel.happens(Kind.CUDA_LAUNCH, MICRO);
      }
      kernel.pass(1_000 * MILLI);
    }
    assertThat(folds("cuda.launch")).hasSize(2);
    kernel.endRequest();

    assertThat(folds("cuda.launch")).hasSize(3);
    assertThat(named("cuda.launch")).hasSize(6);
    assertThat(
            folds("cuda.launch").stream()
                .mapToLong(s -> (Long) s.attribute("inferspan.ebpf.count"))
                .sum())
        .isEqualTo(247);
  }

  @Test
  void invalidEvents_areCountedByReason() {
    kernel.happens(EventBytes.of(499).under(1));
    kernel.happens(EventBytes.of(40_000).under(1));
    kernel.happens(EventBytes.of(Kind.SYSCALL_RECV).from(1, 2));
    kernel.sink.event(EventBytes.view(new byte[10]));
    kernel.happens(EventBytes.of(Kind.CUDA_INIT).under(1).from(5, 4));

    SpanAccounting counts = kernel.sink.accounting();
    assertThat(counts.dropped(Drop.UNKNOWN_KIND)).isEqualTo(2);
    assertThat(counts.dropped(Drop.MALFORMED)).isEqualTo(3);
    assertThat(counts.dropped()).isEqualTo(5);
  }

  @Test
  void lostEvents_areReportedOnSpansOfThatTime() {
    kernel.happens(Kind.CUDA_INIT, MICRO).pass(10 * MILLI).pass(10 * MILLI);
    kernel.lost += 3;
    kernel.pass(2 * MILLI);
    kernel.happens(Kind.CUDA_FREE, 6 * MILLI).pass(10 * MILLI).pass(10 * MILLI);
    kernel.happens(Kind.CUDA_ALLOC, MICRO).pass(10 * MILLI);
    kernel.endRequest();

    assertThat(only("cuda.free").attributes())
        .containsEntry("inferspan.ebpf.dropped", 3L)
        .containsEntry("inferspan.ebpf.coverage", 0.25);
    assertThat(only("cuda.init").attributes()).doesNotContainKey("inferspan.ebpf.dropped");
    assertThat(only("cuda.alloc").attributes())
        .doesNotContainKeys("inferspan.ebpf.dropped", "inferspan.ebpf.coverage");
  }

  @Test
  void spansOfARequestThatSharesAnEventLoop_haveTheReason() {
    kernel.happens(Kind.CUDA_INIT, MICRO);
    kernel.happens(kernel.event(Kind.OWNER_ENDED, 0).of(17, 1L << 32 | 5, 0)).pass(300 * MILLI);

    assertThat(only("cuda.init").attributes())
        .containsEntry("inferspan.ebpf.shared", "loop")
        .containsEntry("inferspan.ebpf.unattributed", 17L);
  }

  @Test
  void spansOfARequestWhoseWorkIsAttributed_haveNoReason() {
    kernel.happens(Kind.CUDA_INIT, MICRO);
    kernel.endRequest();

    assertThat(only("cuda.init").attributes())
        .doesNotContainKeys("inferspan.ebpf.shared", "inferspan.ebpf.unattributed");
  }

  @Test
  void failedCall_isAnErrorUnlessItIsRetried() {
    kernel.happens(kernel.event(Kind.CUDA_ALLOC, MICRO).result(2));
    kernel.happens(kernel.event(Kind.SYSCALL_OPENAT, MICRO).result(-2).text("/x"));
    kernel.happens(kernel.event(Kind.SYSCALL_RECV, MICRO).result(-11));
    for (int i = 0; i < 10; i++) {
      kernel.happens(kernel.event(Kind.NCCL_ALL_REDUCE, MICRO).result(i % 2));
    }
    kernel.endRequest();

    assertThat(only("cuda.alloc").isError()).isTrue();
    assertThat(only("cuda.alloc").attribute("error.type")).isEqualTo("cuda 2");
    assertThat(only("syscall.openat").attribute("error.type")).isEqualTo("errno 2");
    assertThat(only("syscall.recv").isError()).isFalse();
    assertThat(folds("nccl.all_reduce").get(0).attribute("inferspan.ebpf.failures")).isEqualTo(4L);
  }

  @Test
  void controlEvents_arePassedOn() {
    kernel.happens(EventBytes.of(Kind.LIBRARY_APPEARED).text("/usr/lib/libcuda.so.1"));

    assertThat(kernel.controls).containsExactly("LIBRARY_APPEARED /usr/lib/libcuda.so.1");
    assertThat(kernel.sink.accounting().control()).isOne();
  }

  @Test
  void failingControlHandler_isCountedOnce() {
    kernel.failing = true;
    kernel.happens(EventBytes.of(Kind.PROCESS_EXITED));

    assertThat(kernel.sink.accounting().control()).isZero();
    assertThat(kernel.sink.accounting().dropped(Drop.FAILED)).isOne();
  }

  @Test
  void flush_writesOpenRequests() {
    kernel.happens(Kind.CUDA_INIT, MICRO);

    kernel.sink.flush();

    assertThat(only("cuda.init").isRoot()).isFalse();
    assertThat(kernel.sink.accounting().held()).isZero();
  }
}
