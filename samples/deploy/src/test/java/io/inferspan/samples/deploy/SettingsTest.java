package io.inferspan.samples.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.deploy.Manifests.Container;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the programs know the flags and variables that the manifests set. */
class SettingsTest {

  private final Manifests manifests = Manifests.read();

  SettingsTest() throws IOException {}

  @ParameterizedTest
  @EnumSource
  void arguments_areInTheProgramsHelp(Program program) throws Exception {
    String help = program.help();

    assertThat(manifests.container(program.image()).args())
        .isNotEmpty()
        .allSatisfy(argument -> assertThat(help).containsPattern(word(argument)));
  }

  /** Returns a pattern of the whole flag: {@code --port} does not match {@code --metrics-port}. */
  private static Pattern word(String argument) {
    String name = argument.contains("=") ? argument.substring(0, argument.indexOf('=')) : argument;
    return Pattern.compile("(?<![\\w-])" + Pattern.quote(name) + "(?![\\w-])");
  }

  @ParameterizedTest
  @EnumSource
  void variables_areReadByTheProgram(Program program) {
    Container container = manifests.container(program.image());
    KnownVariables known = new KnownVariables();

    assertThat(container.env()).isNotEmpty();
    assertThat(container.env().keySet())
        .allSatisfy(
            name -> {
              if (!container.yaml().at("env").toString().contains("$(" + name + ")")) {
                assertThat(known.isRead(name)).as(name).isTrue();
              }
            });
  }

  @Test
  void unusedVariable_isFound() throws IOException {
    assertThat(new KnownVariables().isRead("OTEL_SERVICE_NAMES")).isFalse();
  }
}
