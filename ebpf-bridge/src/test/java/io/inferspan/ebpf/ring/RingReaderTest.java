package io.inferspan.ebpf.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RingReaderTest {

  private static final long SIZE = 1 << 16;

  private final Arena arena = Arena.ofShared();
  private final RingWriter kernel = new RingWriter(arena, SIZE);
  private final RingReader reader = new RingReader(kernel.memory());
  private final List<Long> read = new ArrayList<>();

  @AfterEach
  void free() {
    arena.close();
  }

  private static byte[] event(long amount) {
    return EventBytes.of(Kind.CUDA_LAUNCH).of(amount, 0, 0).bytes();
  }

  private long drain() {
    return reader.drain(event -> read.add(event.amount()));
  }

  @Test
  void records_areReadInOrderAndOnce() {
    for (long i = 0; i < 10; i++) {
      kernel.write(event(i));
    }

    assertThat(drain()).isEqualTo(720);
    assertThat(drain()).isZero();
    assertThat(read).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(kernel.consumed()).isEqualTo(kernel.produced());
  }

  @Test
  void recordsThatWrap_areContiguous() {
    List<Long> written = new ArrayList<>();
    for (long i = 0; i < 5_000; i++) {
      assertThat(kernel.write(event(i))).isTrue();
      written.add(i);
      if (i % 300 == 0) {
        drain();
      }
    }
    drain();

    assertThat(read).isEqualTo(written);
    assertThat(reader.corruptions()).isZero();
  }

  @Test
  void busyRecord_holdsUpTheRecordsAfterIt() {
    byte[] first = event(1);
    long at = kernel.reserve(first.length);
    kernel.write(event(2));

    assertThat(drain()).isZero();
    assertThat(read).isEmpty();

    kernel.fill(at, first);
    kernel.commit(at, first.length, 0);
    drain();
    assertThat(read).containsExactly(1L, 2L);
  }

  @Test
  void discardedRecord_isSkipped() {
    kernel.write(event(1));
    long at = kernel.reserve(80);
    kernel.commit(at, 80, RingReader.DISCARDED);
    kernel.write(event(3));

    drain();

    assertThat(read).containsExactly(1L, 3L);
    assertThat(reader.backlogBytes()).isZero();
  }

  @Test
  void space_isReleasedBeforeTheEnd() {
    while (kernel.write(event(7))) {}
    AtomicLong releasedMeanwhile = new AtomicLong();

    reader.drain(
        event -> {
          releasedMeanwhile.accumulateAndGet(kernel.consumed(), Math::max);
        });

    assertThat(releasedMeanwhile).hasValueGreaterThan(SIZE / 2);
  }

  @Test
  void fastProducer_doesNotBlockTheReaderForever() {
    kernel.write(event(1));

    long bytes = reader.drain(event -> kernel.write(event(2)));

    assertThat(bytes).isBetween(SIZE, SIZE + 200);
  }

  @Test
  void throwingHandler_losesOnlyItsRecord() {
    kernel.write(event(1));
    kernel.write(event(2));

    assertThatThrownBy(
            () ->
                reader.drain(
                    event -> {
                      throw new IllegalStateException("no");
                    }))
        .isInstanceOf(IllegalStateException.class);
    drain();

    assertThat(read).containsExactly(2L);
  }

  @Test
  void impossibleLength_isCountedAndSkipped() {
    long at = kernel.reserve(80);
    kernel.write(event(2));
    kernel.commit(at, 1 << 20, 0);

    drain();
    kernel.write(event(3));
    drain();

    assertThat(reader.corruptions()).isOne();
    assertThat(read).containsExactly(3L);
  }

  @Test
  void nextReader_continuesWhereTheLastOneStopped() {
    kernel.write(event(1));
    drain();
    kernel.write(event(2));

    new RingReader(kernel.memory()).drain(event -> read.add(event.amount()));

    assertThat(read).containsExactly(1L, 2L);
  }

  @Test
  void invalidRingSize_isRefused() {
    assertThatThrownBy(() -> new RingWriter(arena, 12_288).memory())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the ring has 12288 bytes, but its size must be a power of two from 4096 to 536870912");
  }

  @Test
  void concurrentWriter_losesNothing() throws Exception {
    long events = 300_000;
    Thread writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (long i = 0; i < events; i++) {
                    while (!kernel.write(event(i))) {
                      Thread.onSpinWait();
                    }
                  }
                });
    long[] next = new long[1];
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (next[0] < events && System.nanoTime() < deadline) {
      reader.drain(
          event -> {
            assertThat(event.amount() == next[0]).isTrue();
            next[0]++;
          });
    }
    writer.join();

    assertThat(next[0]).isEqualTo(events);
  }
}
