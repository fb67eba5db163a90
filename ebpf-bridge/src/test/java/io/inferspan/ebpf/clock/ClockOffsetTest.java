package io.inferspan.ebpf.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.clock.ClockOffset.Interval;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two simulated clocks, one of which drifts and is set, and messages with different delays. */
class ClockOffsetTest {

  private static final double MILLI = 1e6;
  private static final long EVERY_NANOS = 100_000_000;
  private static final int PAIRS = 6_000;

  private final ClockOffset clock = new ClockOffset();

  @ParameterizedTest
  @CsvSource({"50, 30", "50, -30", "-50, 30", "-50, -30", "0, 0"})
  void trueOffset_isWithinTheInterval(double driftPpm, double stepMillis) {
    Random random = new Random(1);
    int within = 0;
    double widest = 0;
    for (int pair = 1; pair <= PAIRS; pair++) {
      long now = pair * EVERY_NANOS;
      double offset =
          -7 * MILLI + driftPpm * 1e-6 * now + (pair > PAIRS / 2 ? stepMillis : 0) * MILLI;
      long there = now + delay(random, 0.05, 0.3);
      long back = there + delay(random, 1, 5);
      clock.sent(now, Math.round(there + offset));
      clock.received(Math.round(there + offset), back);
      Interval interval = clock.at(back);
      if (interval != null && Math.abs(interval.offsetNanos() - offset) <= interval.errorNanos()) {
        within++;
        widest = Math.max(widest, (double) interval.errorNanos());
      }
    }

    assertThat(within).isGreaterThanOrEqualTo(PAIRS * 99 / 100);
    assertThat(widest / MILLI).isLessThan(10);
    assertThat(clock.timesSet()).isEqualTo(stepMillis == 0 ? 0 : 1);
  }

  /** Returns a random delay in nanoseconds: {@code least} milliseconds, and sometimes much more. */
  private static long delay(Random random, double least, double more) {
    return Math.round((least - more * Math.log(1 - random.nextDouble())) * MILLI);
  }
}
