package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What {@code --help} prints, held against what there is. */
class HelpTextTest {

  private static final Pattern SETTING = Pattern.compile("\\{@code (INFERSPAN_EBPF_[A-Z_]+)}");

  @Test
  void help_isAsTheGoldenFileHasIt() throws IOException {
    assertThat(HelpText.TEXT + "\n")
        .isEqualTo(Files.readString(Path.of("src/test/resources/golden/help.txt")));
  }

  @Test
  void help_fitsIntoATerminal() {
    assertThat(HelpText.TEXT.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(100));
  }

  @Test
  void everySettingOfTheBridge_isInHelpAndReadme() throws IOException {
    Matcher settings =
        SETTING.matcher(
            Files.readString(Path.of("src/main/java/io/inferspan/ebpf/BridgeConfig.java")));
    String readme = Files.readString(Path.of("README.md"));
    List<String> names = settings.results().map(found -> found.group(1)).toList();

    assertThat(names).isNotEmpty();
    assertThat(names).allSatisfy(name -> assertThat(HelpText.TEXT).contains(name));
    assertThat(names).allSatisfy(name -> assertThat(readme).contains("`" + name + "`"));
    assertThat(readme).contains("`INFERSPAN_EBPF`");
  }
}
