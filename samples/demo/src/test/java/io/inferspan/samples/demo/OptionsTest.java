package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @ParameterizedTest
  @CsvSource({
    "--nonsense, 'Unknown option --nonsense; --help lists the options.'",
    "--load, '--load is missing, but must be 1 to 1000.'",
    "--load 0, '--load is 0, but must be 1 to 1000.'",
    "--load many, '--load is many, but must be 1 to 1000.'",
    "--once --load 5, '--once and --load exclude each other; give only one.'",
  })
  void invalidOption_printsOneSentence_withStatus2(String arguments, String sentence) {
    assertThat(run(arguments.split(" ", -1))).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(sentence + System.lineSeparator());
    assertThat(out.size()).isZero();
  }

  @Test
  void help_namesEveryOption() {
    assertThat(run("--help")).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8)).contains("--once", "--load N", "--help");
  }

  @Test
  void options_areRead() {
    assertThat(Options.parse(List.of())).isEqualTo(new Options(false, 0, false));
    assertThat(Options.parse(List.of("--load", "7"))).isEqualTo(new Options(false, 7, false));
    assertThatThrownBy(() -> Options.parse(List.of("once"))).hasMessageContaining("once");
  }

  private int run(String... arguments) {
    return DemoMain.run(
        List.of(arguments),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }
}
