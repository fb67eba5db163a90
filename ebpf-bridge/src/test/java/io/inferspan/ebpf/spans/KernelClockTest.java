package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.linux.Clocks;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KernelClockTest {

  private static final long SECOND = 1_000_000_000L;
  private static final long TENTH = SECOND / 10;

  private long monotonic = 1_000 * SECOND;
  private long offset = 1_700_000_000 * SECOND;
  private final KernelClock clock = new KernelClock(() -> monotonic, () -> monotonic + offset);

  @Test
  void constantOffset_isAdded() {
    assertThat(clock.epochNanos(monotonic - 5)).isEqualTo(monotonic - 5 + offset);
    assertThat(clock.epochNanos(monotonic + 5)).isEqualTo(monotonic + 5 + offset);
    assertThat(clock.errorNanos()).isZero();
  }

  @Test
  void slewedClock_isFollowedBetweenMeasurements() {
    long begin = monotonic;
    long before = offset;
    offset += 100_000;
    monotonic += TENTH;
    clock.refresh();

    assertThat(clock.epochNanos(begin + TENTH / 2)).isEqualTo(begin + TENTH / 2 + before + 50_000);
    assertThat(clock.epochNanos(monotonic)).isEqualTo(monotonic + offset);
  }

  @Test
  void suspend_doesNotMoveEventsBeforeOrAfterIt() {
    long before = offset;
    long event = monotonic + TENTH / 10;
    monotonic += TENTH;
    offset += 3_600 * SECOND;
    clock.refresh();
    monotonic += TENTH;
    clock.refresh();

    assertThat(clock.epochNanos(event)).isEqualTo(event + before);
    assertThat(clock.epochNanos(monotonic - TENTH / 2)).isEqualTo(monotonic - TENTH / 2 + offset);
  }

  @Test
  void manyMeasurements_replaceOnlyTheOldest() {
    long begin = monotonic;
    for (int i = 0; i < 1_000; i++) {
      monotonic += TENTH;
      offset += 10;
      clock.refresh();
    }

    assertThat(clock.epochNanos(monotonic)).isEqualTo(monotonic + offset);
    long recent = monotonic - 200 * TENTH;
    assertThat(clock.epochNanos(recent)).isEqualTo(recent + offset - 2_000);
    assertThat(clock.epochNanos(begin)).isEqualTo(begin + offset - 2_550);
  }

  @Test
  void narrowestMeasurement_isUsed() {
    long[] ticks = {900, 100, 5_000, 800, 700};
    int[] call = new int[1];
    long start = monotonic;
    KernelClock noisy =
        new KernelClock(
            () -> {
              int index = call[0]++;
              if (index % 2 == 1) {
                monotonic += ticks[index / 2 % ticks.length];
              }
              return monotonic;
            },
            () -> monotonic + offset);

    assertThat(noisy.errorNanos()).isEqualTo(50);
    assertThat(noisy.epochNanos(start))
        .isCloseTo(start + offset, org.assertj.core.data.Offset.offset(100L));
  }

  @Test
  void realClocks_areConvertedWithinFiftyMicroseconds() {
    KernelClock real = new KernelClock(Clocks::monotonicNanos, Clocks::realtimeNanos);
    int pairs = 20_000;
    long[] errors = new long[pairs];
    for (int i = 0; i < pairs; i++) {
      real.refresh();
      long before = Clocks.monotonicNanos();
      long wall = Clocks.realtimeNanos();
      long after = Clocks.monotonicNanos();
      errors[i] = Math.abs(real.epochNanos(before + (after - before) / 2) - wall);
    }
    Arrays.sort(errors);
    System.out.printf(
        "clock conversion error: p50 %d ns, p99 %d ns, max %d ns%n",
        errors[pairs / 2], errors[pairs * 99 / 100], errors[pairs - 1]);

    assertThat(errors[pairs * 99 / 100]).isLessThan(50_000);
    assertThat(real.errorNanos()).isLessThan(50_000);
  }

  @Test
  void nanoTime_isTheClockOfEvents() {
    long before = Clocks.monotonicNanos();
    long nanoTime = System.nanoTime();

    assertThat(nanoTime).isBetween(before, Clocks.monotonicNanos());
  }
}
