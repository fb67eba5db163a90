package io.inferspan.samples.demo.engine;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineMainTest {

  @ParameterizedTest
  @ValueSource(strings = {"--port", "--kv-port"})
  void portThatIsNoNumber_isNamed(String option) {
    String other = option.equals("--port") ? "--kv-port=1" : "--port=1";

    assertThatIllegalArgumentException()
        .isThrownBy(() -> EngineMain.Setup.of(List.of("--name=a", option + "=http", other)))
        .withMessageStartingWith(option + " is http, but must be a port; usage: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "65536", "99999"})
  void portOutOfRange_isNamed(String port) {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> EngineMain.Setup.of(List.of("--name=a", "--port=" + port, "--kv-port=65535")))
        .withMessageStartingWith("--port is " + port + ", but must be a port; usage: ");
  }
}
