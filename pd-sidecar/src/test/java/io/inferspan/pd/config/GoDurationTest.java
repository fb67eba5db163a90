package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {

  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "+0, PT0S",
    "-0, PT0S",
    "0s, PT0S",
    "200ms, PT0.2S",
    "1.5s, PT1.5S",
    "1m30s, PT1M30S",
    "1h1m1s1ms1us1ns, PT1H1M1.001001001S",
    "3µs, PT0.000003S",
    "3μs, PT0.000003S",
    ".5s, PT0.5S",
    "1.s, PT1S",
    "-1.5h, PT-1H-30M",
    "+2m, PT2M",
    "100s, PT1M40S",
    "1s1s, PT2S",
    "0.000000001s, PT0.000000001S",
    "0.3333333333333333333h, PT20M",
    "9223372036854775807ns, PT2562047H47M16.854775807S"
  })
  void duration_isReadAsInGo(String text, Duration duration) {
    assertThat(GoWords.duration(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "+",
        ".",
        "s",
        ".s",
        "1",
        "1.5",
        "1 s",
        " 1s",
        "1s ",
        "1d",
        "1S",
        "--1s",
        "1s-1s",
        "9223372036854775808ns",
        "2562048h",
        "99999999999999999999s",
        "1e3s",
        "1..5s",
        "0x1s",
        "9223372036854775807ns1ns"
      })
  void otherText_isRefused(String text) {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> GoWords.duration(text));
  }
}
