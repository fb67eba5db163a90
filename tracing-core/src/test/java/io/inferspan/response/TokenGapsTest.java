package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenGapsTest {

  private static final Percentage ALLOWED = Percentage.withPercentage(5);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void quantiles_areWithinFivePercent(long seed) {
    Random random = new Random(seed);
    long[] all = new long[1 + random.nextInt(5_000)];
    TokenGaps gaps = new TokenGaps();
    for (int i = 0; i < all.length; i++) {
      // From a microsecond to four minutes, with each order of magnitude equally likely.
      all[i] = (long) Math.pow(10, 3.02 + random.nextDouble() * 8.3);
      gaps.add(all[i]);
    }
    Arrays.sort(all);

    for (double quantile : new double[] {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1}) {
      int rank = Math.max(1, (int) Math.ceil(quantile * all.length));
      assertThat(gaps.nanos(quantile)).isCloseTo(all[rank - 1], ALLOWED);
    }
    assertThat(gaps.maxNanos()).isEqualTo(all[all.length - 1]);
  }

  @Test
  void eachSingleGap_isWithinFivePercent() {
    for (double nanos = 1_024; nanos < 240e9; nanos *= 1.003) {
      TokenGaps gaps = new TokenGaps();
      gaps.add((long) nanos);
      gaps.add(Long.MAX_VALUE);

      assertThat(gaps.nanos(0.5)).isCloseTo((long) nanos, ALLOWED);
    }
  }

  @Test
  void extremeGaps_areAccepted() {
    TokenGaps gaps = new TokenGaps();
    gaps.add(-5);
    gaps.add(0);
    gaps.add(Long.MAX_VALUE);

    assertThat(gaps.nanos(0.5)).isZero();
    assertThat(gaps.nanos(1)).isEqualTo(Long.MAX_VALUE);
    assertThat(gaps.maxNanos()).isEqualTo(Long.MAX_VALUE);
  }
}
