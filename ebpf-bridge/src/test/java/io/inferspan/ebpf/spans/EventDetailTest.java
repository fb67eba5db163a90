package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attributes with the details of a call, and the details that separate folds. */
class EventDetailTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());

  @Test
  void details_areReportedByName() {
    kernel.happens(kernel.event(Kind.NCCL_ALL_REDUCE, 5).of(1_024, 7L << 32 | 2, 0xbeef));
    kernel.happens(kernel.event(Kind.NCCL_SEND, 5).of(1, 9L << 32 | 3, 0xbeef));
    kernel.happens(kernel.event(Kind.SCHED_OFFCPU, 5).of(0, 2, 0));
    kernel.happens(kernel.event(Kind.SCHED_RUNQUEUE, 5).of(0, 1, 0));
    kernel.endRequest();

    assertThat(only("nccl.all_reduce").attributes())
        .containsEntry("inferspan.ebpf.elements", 1_024L)
        .containsEntry("inferspan.ebpf.bytes", 4_096L)
        .containsEntry("inferspan.ebpf.nccl.data_type", "float32")
        .containsEntry("inferspan.ebpf.nccl.reduction", "max")
        .containsEntry(
            "inferspan.ebpf.nccl.communicator",
            only("nccl.send").attribute("inferspan.ebpf.nccl.communicator"));
    assertThat(only("nccl.send").attributes())
        .containsEntry("inferspan.ebpf.nccl.data_type", "bfloat16")
        .doesNotContainKey("inferspan.ebpf.nccl.reduction");
    assertThat(only("sched.offcpu").attribute("inferspan.ebpf.thread.state"))
        .isEqualTo("uninterruptible");
    assertThat(only("sched.runqueue").attribute("inferspan.ebpf.thread.state"))
        .isEqualTo("preempted");
  }

  @Test
  void bytesOfElements_areReportedIfTheirTypeIsKnown() {
    kernel.happens(kernel.event(Kind.NCCL_REDUCE, 5).of(1L << 62, 8L << 32, 1));
    kernel.happens(kernel.event(Kind.NCCL_SEND, 5).of(64, 99L << 32, 1));
    int folded = 7;
    for (int i = 0; i < FoldOptions.defaults().firstFew() + folded; i++) {
      kernel.happens(kernel.event(Kind.NCCL_BROADCAST, 5).of(100, 6L << 32, 1));
    }
    kernel.endRequest();

    assertThat(only("nccl.reduce").attribute("inferspan.ebpf.bytes")).isEqualTo(Long.MAX_VALUE);
    assertThat(only("nccl.send").attribute("inferspan.ebpf.bytes")).isNull();
    assertThat(folds("nccl.broadcast").get(0).attributes())
        .containsEntry("inferspan.ebpf.elements", 100L * folded)
        .containsEntry("inferspan.ebpf.bytes", 200L * folded);
  }

  @Test
  void timeOffTheCpu_isFoldedBySystemCall() {
    long read = callPlusOne("read");
    long futex = callPlusOne("futex");
    for (int i = 0; i < 13; i++) {
      kernel.happens(kernel.event(Kind.SCHED_OFFCPU, 10).of(0, 1, i % 2 == 0 ? read : futex));
    }
    kernel.happens(kernel.event(Kind.SCHED_RUNQUEUE, 10).of(0, 0, futex));
    kernel.happens(kernel.event(Kind.SCHED_RUNQUEUE, 10).of(0, 1, 0));
    kernel.endRequest();

    assertThat(folds("sched.offcpu"))
        .extracting(span -> span.attribute("inferspan.ebpf.thread.syscall"))
        .containsExactlyInAnyOrder("read", "futex");
    assertThat(named("sched.runqueue"))
        .extracting(span -> span.attribute("inferspan.ebpf.thread.syscall"))
        .containsExactly("futex", null);
  }

  @Test
  void operationAndItsIoctl_haveTheSameId() {
    for (int i = 1; i <= 8; i++) {
      kernel.happens(kernel.event(Kind.CKP_OPERATION, MICRO).of(0, i, i).text("decode"));
      kernel.happens(kernel.event(Kind.CKP_IOCTL, 10).of(0, 0x5400, i));
    }
    kernel.endRequest();

    for (String name : List.of("ckp.operation", "ckp.ioctl")) {
      assertThat(named(name))
          .filteredOn(span -> span.attribute("inferspan.ebpf.count") == null)
          .extracting(span -> span.attribute("inferspan.ebpf.ckp.operation.id"))
          .containsExactly(1L, 2L, 3L);
      assertThat(folds(name))
          .singleElement()
          .satisfies(
              fold ->
                  assertThat(fold.attributes())
                      .containsEntry("inferspan.ebpf.count", 5L)
                      .doesNotContainKey("inferspan.ebpf.ckp.operation.id"));
    }
  }

  private static long callPlusOne(String name) {
    return LongStream.rangeClosed(1, 512)
        .filter(number -> name.equals(CallNumber.name(number)))
        .findFirst()
        .orElseThrow();
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

  private List<SpanRecord> folds(String name) {
    return named(name).stream().filter(s -> s.attribute("inferspan.ebpf.count") != null).toList();
  }
}
