package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HelpTextTest {

  private static final String HELP = HelpText.write();

  @Test
  void help_namesEverySettingItsDefaultAndItsVariable() {
    String words = HELP.replaceAll("\\s+", " ");
    for (Setting<?> setting : Settings.all()) {
      setting
          .names()
          .forEach(name -> assertThat(words).contains(name.length() == 1 ? "-v" : "--" + name));
      assertThat(words).contains(setting.sentence);
      if (setting.env != null) {
        assertThat(words).contains("env " + setting.env);
      }
      if (!setting.byDefault.isEmpty()) {
        assertThat(words).contains("default " + setting.byDefault);
      }
    }
  }

  @Test
  void help_fitsInAHundredColumns() {
    assertThat(HELP.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
  }

  @Test
  void examples_work() throws ConfigException {
    List<String> examples =
        HELP.lines().dropWhile(line -> !line.equals("Examples:")).skip(1).toList();

    assertThat(examples).hasSize(2);
    List<String> flags = List.of(examples.get(0).strip().split(" "));
    assertThat(Invocation.parse(flags.subList(1, flags.size()), Map.of()))
        .isInstanceOf(Invocation.Run.class);
    String yaml = examples.get(1).substring(examples.get(1).indexOf('\'') + 1).replace("'", "");
    assertThat(Parsed.yaml(yaml).tls()).hasSize(1);
  }
}
