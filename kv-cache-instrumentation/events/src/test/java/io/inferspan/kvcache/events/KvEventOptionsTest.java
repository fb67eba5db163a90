package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class KvEventOptionsTest {

  @Test
  void durationOfMoreThanADay_isRefused() {
    KvEventOptions.Builder options = KvEventOptions.builder().reconnect(Duration.ofDays(1));

    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.reconnect(Duration.ofHours(47)))
        .withMessage("reconnect is PT47H; it must be from 1 ms to one day");
  }

  @Test
  void anyOtherDuration_isRefusedWithItsName() {
    KvEventOptions.Builder options = KvEventOptions.builder().writeTimeout(Duration.ofMillis(1));

    for (long seconds : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> options.writeTimeout(Duration.ofSeconds(seconds)))
          .withMessageMatching("writeTimeout is PT.*; it must be from 1 ms to one day");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.writeTimeout(Duration.ofNanos(999_999)));
  }
}
