package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.ring.RingWriter;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.TracingExtension;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Measures that reading and folding events allocates nothing. */
class EventSinkAllocationTest {

  private static final int LAUNCHES = 3 * Durations.EXACT;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void foldedEvents_allocateNothing() {
    try (Arena arena = Arena.ofConfined()) {
      RingWriter writer = new RingWriter(arena, 1 << 16);
      RingReader reader = new RingReader(writer.memory());
      FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
      byte[][] events = new byte[16][];
      for (int i = 0; i < events.length; i++) {
        events[i] =
            EventBytes.of(i % 4 == 0 ? Kind.SYSCALL_OPENAT : Kind.CUDA_LAUNCH)
                .under(1 + i % 3)
                .by(1, 1)
                .from(5, 500 + i)
                .of(1, i % 2, 0)
                .text("/usr/lib/libcuda.so.1")
                .bytes();
      }
      long[] allocated = new long[300];
      for (int round = 0; round < 400; round++) {
        for (int i = 0; i < 256; i++) {
          writer.write(events[i % events.length]);
        }
        long before = THREADS.getCurrentThreadAllocatedBytes();
        reader.drain(kernel.sink);
        kernel.sink.drained();
        if (round >= 100) {
          allocated[round - 100] = THREADS.getCurrentThreadAllocatedBytes() - before;
        }
      }

      assertThat(kernel.sink.accounting().consumed()).isEqualTo(400 * 256);
      assertNothing(allocated);
    }
  }

  @Test
  void laterRequests_reuseTheFoldsOfEarlierOnes() {
    FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
    EventView launch = kernel.event(Kind.CUDA_LAUNCH, 1_000).of(1, 0, 0).view();
    long[] allocated = new long[40];
    for (int request = 0; request < 60; request++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < LAUNCHES; i++) {
        kernel.sink.event(launch);
      }
      if (request >= 20) {
        allocated[request - 20] = THREADS.getCurrentThreadAllocatedBytes() - before;
      }
      kernel.endRequest();
    }

    assertThat(kernel.sink.accounting().folds()).isEqualTo(60);
    assertNothing(allocated);
  }

  /**
   * Asserts that most rounds allocate nothing. The JVM itself allocates some bytes on this thread
   * now and then, such as when it recompiles.
   */
  private static void assertNothing(long[] bytesOfRounds) {
    long[] sorted = bytesOfRounds.clone();
    Arrays.sort(sorted);
    assertThat(sorted[sorted.length / 2]).isZero();
    assertThat(LongStream.of(sorted).sum()).isLessThan(1_000);
  }
}
