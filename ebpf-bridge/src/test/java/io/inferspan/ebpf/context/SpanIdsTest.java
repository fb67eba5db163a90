package io.inferspan.ebpf.context;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SpanIdsTest {

  private final SpanIds ids = new SpanIds();

  @Test
  void everyDigit_hasItsValue() {
    ids.read("0123456789abcdeffedcba9876543210", "00f067aa0ba902b7");

    assertThat(ids.traceIdHigh()).isEqualTo(0x0123456789abcdefL);
    assertThat(ids.traceIdLow()).isEqualTo(0xfedcba9876543210L);
    assertThat(ids.spanId()).isEqualTo(0x00f067aa0ba902b7L);
  }

  @Test
  void randomIds_areReadAsTheyAreWritten() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      long high = random.nextLong();
      long low = random.nextLong();
      long span = random.nextLong();
      ids.read("%016x%016x".formatted(high, low), "%016x".formatted(span));
      assertThat(ids.traceIdHigh() == high && ids.traceIdLow() == low && ids.spanId() == span)
          .isTrue();
    }
  }
}
