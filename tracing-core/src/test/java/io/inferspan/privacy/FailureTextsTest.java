package io.inferspan.privacy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailureTextsTest {

  @Test
  void thousandTextsOfOneInstance_doNotAffectAnother_andAreCounted() {
    FailureTexts full = new FailureTexts();
    for (int i = 0; i < FailureTexts.MAX_TEXTS + 5; i++) {
      full.remember("sentence " + i);
    }
    full.remember("sentence 0");
    FailureTexts other = new FailureTexts();
    other.remember("a sentence of another telemetry");

    assertThat(full.leftOut()).isEqualTo(5);
    assertThat(FailureTexts.isKnown("sentence " + FailureTexts.MAX_TEXTS)).isFalse();
    assertThat(FailureTexts.isKnown("a sentence of another telemetry")).isTrue();
    assertThat(other.leftOut()).isZero();
  }
}
