package io.inferspan.testing.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private static final List<String> FIVE = List.of("aaaa", "bbbb", "cccc", "dddd", "eeee");

  @Test
  void onlyTheNewest_areKept_butAllAreCounted() {
    Arrivals<String> log = new Arrivals<>(3);
    FIVE.forEach(one -> log.add(List.of(one)));

    assertThat(log.list()).isEqualTo(FIVE.subList(2, 5));
    assertThat(log.count()).isEqualTo(5);
    assertThat(log.dropped()).isEqualTo(2);
    log.await(() -> log.count() >= 5, Duration.ZERO, () -> "five are there");
    assertThatThrownBy(() -> log.await(() -> log.count() > 5, Duration.ZERO, () -> "only five"))
        .isInstanceOf(AssertionError.class)
        .hasMessage("only five");
  }

  @Test
  void bytes_areLimited_butTheNewestIsAlwaysKept() {
    Arrivals<String> two = new Arrivals<>(100, 8, String::length);
    Arrivals<String> none = new Arrivals<>(100, 0, String::length);
    two.add(FIVE);
    none.add(FIVE);

    assertThat(two.list()).isEqualTo(FIVE.subList(3, 5));
    assertThat(none.list()).containsExactly("eeee");
    two.clear();
    two.add(FIVE.subList(0, 2));
    assertThat(two.list()).hasSize(2);
  }
}
