package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

  private final Durations durations = new Durations();

  @BeforeEach
  void begin() {
    durations.clear();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 10, 63, 64})
  void fewDurations_haveExactPercentiles(int count) {
    long[] all = fill(count, new Random(count));

    assertThat(durations.percentile(50)).isEqualTo(nearestRank(all, 50));
    assertThat(durations.percentile(99)).isEqualTo(nearestRank(all, 99));
  }

  @ParameterizedTest
  @ValueSource(ints = {65, 100, 1_000, 50_000})
  void manyDurations_havePercentilesWithinOneThirtySecond(int count) {
    long[] all = fill(count, new Random(count));

    for (int percent : new int[] {1, 50, 90, 99, 100}) {
      assertThat(durations.percentile(percent))
          .isCloseTo(nearestRank(all, percent), Percentage.withPercentage(3.2));
    }
    assertThat(durations.count()).isEqualTo(count);
    assertThat(durations.sum()).isEqualTo(Arrays.stream(all).sum());
    assertThat(durations.min()).isEqualTo(all[0]);
    assertThat(durations.max()).isEqualTo(all[count - 1]);
  }

  @Test
  void extremes_doNotOverflow() {
    for (int i = 0; i < 100; i++) {
      durations.add(i % 2 == 0 ? 0 : 1L << 50);
    }

    assertThat(durations.percentile(50)).isZero();
    assertThat(durations.percentile(99)).isPositive().isLessThanOrEqualTo(1L << 50);
    assertThat(durations.sum()).isEqualTo(50 * (1L << 50));
  }

  private long[] fill(int count, Random random) {
    long[] all = new long[count];
    for (int i = 0; i < count; i++) {
      all[i] = (long) Math.exp(random.nextDouble() * 25);
      durations.add(all[i]);
    }
    Arrays.sort(all);
    return all;
  }

  private static long nearestRank(long[] sorted, int percent) {
    return sorted[Math.max(0, (int) Math.ceil(sorted.length * percent / 100.0) - 1)];
  }
}
