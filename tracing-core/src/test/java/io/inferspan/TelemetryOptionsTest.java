package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Invalid options. */
class TelemetryOptionsTest {

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT1H0.000000001S", "PT2562047788015215H30M7S"})
  void closeTimeoutOutOfBounds_isRejectedInOneSentence(String timeout) {
    TelemetryOptions.Builder options = TelemetryOptions.builder();

    assertThatThrownBy(() -> options.closeTimeout(Duration.parse(timeout)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("closeTimeout", timeout, "PT1H")
        .message()
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.000000001S", "PT1H"})
  void closeTimeoutAtItsBounds_isAccepted(String timeout) {
    Duration bound = Duration.parse(timeout);

    assertThat(TelemetryOptions.builder().closeTimeout(bound).build().closeTimeout)
        .isEqualTo(bound);
  }
}
