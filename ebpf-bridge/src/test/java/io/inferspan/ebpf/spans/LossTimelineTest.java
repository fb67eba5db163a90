package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LossTimelineTest {

  private static final long STEP = 10_000_000;

  private final LossTimeline timeline = new LossTimeline();

  @Test
  void withoutSamples_nothingIsLost() {
    assertThat(timeline.lost(1, 2)).isZero();
    assertThat(timeline.coverage(1, 2)).isEqualTo(1);
  }

  @Test
  void interval_usesTheSamplesAroundIt() {
    for (int i = 0; i < 10; i++) {
      timeline.note(i * STEP, 100L * i, i >= 5 ? 50 : 0);
    }

    assertThat(timeline.lost(1 * STEP, 3 * STEP)).isZero();
    assertThat(timeline.lost(4 * STEP, 4 * STEP + 1)).isEqualTo(50);
    assertThat(timeline.lost(4 * STEP + 1, 5 * STEP)).isEqualTo(50);
    assertThat(timeline.lost(5 * STEP, 9 * STEP)).isZero();
    assertThat(timeline.lost(0, 20 * STEP)).isEqualTo(50);
    assertThat(timeline.coverage(4 * STEP, 5 * STEP)).isEqualTo(100 / 150.0);
  }

  @Test
  void intervalBeforeTheHistory_usesTheOldestSample() {
    for (int i = 0; i < 5_000; i++) {
      timeline.note(i * STEP, i, i);
    }

    assertThat(timeline.lost(0, 4_999 * STEP)).isEqualTo(2_047);
  }

  @Test
  void closeSamples_doNotDisplaceTheHistory() {
    timeline.note(0, 0, 0);
    for (int i = 1; i < 100_000; i++) {
      timeline.note(i * 100L, i, i);
    }

    assertThat(timeline.lost(0, 100_000 * 100L)).isEqualTo(99_999);
  }
}
