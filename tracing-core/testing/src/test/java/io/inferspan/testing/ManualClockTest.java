package io.inferspan.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ManualClockTest {
  @Test
  void clock_movesOnlyWhenAdvanced() {
    ManualClock clock = ManualClock.create();
    long start = clock.now();
    assertThat(start).isEqualTo(ManualClock.START.toEpochMilli() * 1_000_000);
    assertThat(clock.now()).isEqualTo(start);

    clock.advance(Duration.ofMillis(1500));
    assertThat(clock.now() - start).isEqualTo(1_500_000_000L);
    assertThat(clock.now(true)).isEqualTo(clock.now());
    assertThat(clock.nanoTime()).isEqualTo(1_500_000_000L);
  }

  @Test
  void start_canBeChosen() {
    Instant start = Instant.ofEpochSecond(1, 5);
    assertThat(ManualClock.startingAt(start).now()).isEqualTo(1_000_000_005L);
  }

  @Test
  void clock_cannotBeMovedBackwards() {
    assertThatThrownBy(() -> ManualClock.create().advance(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("backwards");
  }

  @Test
  void advancesOfManyThreads_allCount() throws Exception {
    ManualClock clock = ManualClock.create();
    CountDownLatch done = new CountDownLatch(4);
    for (int t = 0; t < 4; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  clock.advance(Duration.ofNanos(1));
                }
                done.countDown();
              });
      thread.setDaemon(true);
      thread.start();
    }
    assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(clock.nanoTime()).isEqualTo(40_000);
  }
}
