package io.inferspan.pd.allow;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.allow.ResourceWatch.Backoff;
import org.junit.jupiter.api.Test;

class BackoffTest {

  @Test
  void pauses_doubleUpToTheLongest_withRandomHalf() {
    Backoff backoff = new Backoff();
    for (long whole = Backoff.FIRST_MILLIS; whole < Backoff.LONGEST_MILLIS; whole *= 2) {
      assertThat(backoff.nextMillis()).isBetween(whole / 2, whole);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(backoff.nextMillis())
          .isBetween(Backoff.LONGEST_MILLIS / 2, Backoff.LONGEST_MILLIS);
    }
    backoff.reset();
    assertThat(backoff.nextMillis()).isLessThanOrEqualTo(Backoff.FIRST_MILLIS);
  }
}
