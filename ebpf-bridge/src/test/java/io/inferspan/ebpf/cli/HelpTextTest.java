package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.support.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The texts of {@code --help}. */
class HelpTextTest {

  private static final Path GOLDEN = Path.of("src/test/resources/golden/help.txt");

  private final String help =
      texts(EbpfTool.commandLine(Map.of(), System.out, System.err, ""))
          .collect(Collectors.joining("\n"));

  @Test
  void help_equalsTheGoldenFile() throws IOException {
    if (Boolean.getBoolean("golden.write")) {
      Files.writeString(GOLDEN, help);
    }
    assertThat(help).isEqualTo(Files.readString(GOLDEN));
  }

  @Test
  void help_fitsIntoATerminal() {
    assertThat(help.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
  }

  @Test
  void everySetting_isInHelpAndReadme() throws IOException {
    String readme = Files.readString(Path.of("README.md"));

    assertThat(Setting.values())
        .allSatisfy(
            setting -> {
              assertThat(help).contains(setting.variable());
              assertThat(readme).contains("`" + setting.variable() + "`");
            });
    assertThat(readme).contains("`INFERSPAN_EBPF`");
  }

  private static Stream<String> texts(CommandLine command) {
    Stream<CommandLine> below = command.getSubcommands().values().stream().distinct();
    return Stream.concat(
        Stream.of(command.getUsageMessage(CommandLine.Help.Ansi.OFF)),
        below.filter(one -> !one.getCommandName().equals("help")).flatMap(HelpTextTest::texts));
  }
}
