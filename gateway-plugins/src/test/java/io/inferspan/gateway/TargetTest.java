package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The called engine, as routing headers name it. */
final class TargetTest {

  @Test
  void authorities_areTakenApart() {
    assertThat(Target.of("10.0.0.1:8000")).isEqualTo(new Target("10.0.0.1", 8000));
    assertThat(Target.of("engine")).isEqualTo(new Target("engine", 0));
    assertThat(Target.of("[fd00::1]:8000")).isEqualTo(new Target("fd00::1", 8000));
    assertThat(Target.of("[fd00::1]")).isEqualTo(new Target("fd00::1", 0));
    assertThat(Target.of("fd00::1")).isEqualTo(new Target("fd00::1", 0));
    assertThat(Target.of("")).isEqualTo(new Target("", 0));
  }

  @Test
  void portsThatAreNone_areNotKnown() {
    assertThat(Target.of("a:70000").port()).isZero();
    assertThat(Target.of("a:http").port()).isZero();
    assertThat(Target.of("a:").port()).isZero();
    assertThat(Target.of("a:99999999999").port()).isZero();
  }
}
