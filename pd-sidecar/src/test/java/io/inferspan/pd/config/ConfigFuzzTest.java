package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ConfigFuzzTest {

  private static final List<Setting<?>> SETTINGS = Settings.all();

  private static final List<String> VALUES =
      List.of(
          "",
          "0",
          "1",
          "-1",
          "2",
          "8000",
          "65535",
          "65536",
          "99999999999999999999",
          "true",
          "false",
          "T",
          "on",
          "200ms",
          "1h",
          "9999999h",
          "-5s",
          "nixlv2",
          "sglang",
          "lmcache",
          "prefiller,decoder",
          ",",
          "a/b",
          "a/b/c",
          "/",
          "10.0.0.0/8",
          "::1/129",
          "64MiB",
          "9999999999GiB",
          "KiB",
          "\0",
          "\ud800",
          "é",
          "{}",
          "[",
          "{port: 1}",
          "*a",
          "&a",
          "---",
          "- -",
          "{enable-tls: [a, *b]}",
          "?",
          "!!set {a}",
          "%",
          "\"",
          "'",
          "| ",
          "\t",
          "=");

  private static final List<String> FORMS =
      List.of("--%s=%s", "--%s|%s", "--%s", "-%s=%s", "%2$s", "--%2$s", "-v%2$s", "---%s", "--");

  /** A fixed seed, so that failures can be reproduced. */
  private final Random random = new Random(20_260_101);

  @Test
  void randomArguments_areReadOrRefusedInOneLine() {
    int read = 0;
    for (int i = 0; i < 100_000; i++) {
      read += parse(arguments(), environment()) ? 1 : 0;
    }
    assertThat(read).isBetween(5_000, 95_000);
  }

  @Test
  void randomYaml_isReadOrRefusedInOneLine() {
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      read += parse(List.of("--configuration", yaml()), Map.of()) ? 1 : 0;
    }
    assertThat(read).isBetween(500, 19_500);
  }

  private static boolean parse(List<String> args, Map<String, String> env) {
    try {
      return Invocation.parse(args, env) != null;
    } catch (ConfigException e) {
      assertThat(e.getMessage()).isNotBlank().doesNotContain("\n").hasSizeLessThan(700);
      return false;
    } catch (RuntimeException | Error e) {
      throw new AssertionError("with " + args + " and " + env, e);
    }
  }

  private List<String> arguments() {
    List<String> args = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      String form = random.nextInt(3) > 0 ? FORMS.get(random.nextInt(2)) : pick(FORMS);
      String words = form.formatted(name(), pick(VALUES));
      int bar = form.indexOf('|') < 0 ? -1 : words.indexOf('|');
      args.add(bar < 0 ? words : words.substring(0, bar));
      if (bar >= 0) {
        args.add(words.substring(bar + 1));
      }
    }
    return args;
  }

  private Map<String, String> environment() {
    Map<String, String> env = new HashMap<>();
    Setting<?> setting = pick(SETTINGS);
    if (setting.env != null) {
      env.put(setting.env, pick(VALUES));
    }
    return env;
  }

  private String yaml() {
    StringBuilder yaml = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      yaml.append(name()).append(random.nextInt(8) == 0 ? " " : ": ").append(pick(VALUES));
      yaml.append(random.nextInt(8) == 0 ? ", " : "\n");
    }
    return random.nextInt(4) == 0 ? "{" + yaml + "}" : yaml.toString();
  }

  private String name() {
    List<String> names = pick(SETTINGS).names();
    return random.nextInt(50) == 0 ? pick(VALUES) : pick(names);
  }

  private <T> T pick(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
