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
}
