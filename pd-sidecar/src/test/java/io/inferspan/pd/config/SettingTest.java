package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SettingTest {

  /** Values that differ from every default, with the flags they also need. */
  private static final Map<Setting<?>, String> SAMPLES =
      Map.of(
          Settings.INFERENCE_POOL, "ns/pool",
          Settings.KV_CONNECTOR, "mooncake",
          Settings.EC_CONNECTOR, "ec-nixl",
          Settings.TRANSPORT, "epoll",
          Settings.LOG_LEVEL, "debug",
          Settings.METRICS_PORT, "9400",
          Settings.HELD_BODIES_LIMIT, "77MiB",
          Settings.ENABLE_TLS, "encoder",
          Settings.TLS_INSECURE_SKIP_VERIFY, "encoder");

  private static final List<String> COMPANY =
      List.of(
          "--inference-pool-name=other", "--moriio-write-mode", "--pod-ip=10.1.1.1", "--port=8001");

  static Stream<Setting<?>> yamlKeys() {
    return Settings.all().stream().filter(Setting::isYamlKey);
  }

  @ParameterizedTest
  @MethodSource("yamlKeys")
  void setting_canBeSetByFlagAndByYaml(Setting<?> setting) throws ConfigException {
    for (String name : setting.names()) {
      String sample = sample(setting);
      SidecarConfig without = Parsed.config(company(name));
      SidecarConfig byFlag = Parsed.config(company(name, "--" + name + "=" + sample));
      SidecarConfig byYaml =
          Parsed.config(company(name, "--configuration=" + name + ": '" + sample + "'"));

      assertThat(Parsed.values(byFlag)).isEqualTo(Parsed.values(byYaml));
      assertThat(Parsed.values(byFlag)).isNotEqualTo(Parsed.values(without));
    }
  }

  @Test
  void everyVariable_setsItsSetting() throws ConfigException {
    for (Setting<?> setting : Settings.all()) {
      String variable = setting.env;
      if (variable != null) {
        String[] args = company(setting.key);
        assertThat(Parsed.values(Parsed.config(Map.of(variable, sample(setting)), args)))
            .as(variable)
            .isNotEqualTo(Parsed.values(Parsed.config(args)));
      }
    }
  }

  @Test
  void everyDefault_isAllowed() throws ConfigException {
    for (Setting<?> setting : Settings.all()) {
      if (!setting.isIgnored()) {
        Layer layer = new Layer(new Notes());
        layer.read(setting, setting.byDefault, setting.key, "the default");
        assertThat(layer.find(setting)).isNotNull();
      }
    }
  }

  @Test
  void names_areUnique() {
    Set<String> seen = new HashSet<>();
    for (Setting<?> setting : Settings.all()) {
      for (String name : setting.names()) {
        assertThat(seen.add(name)).as(name).isTrue();
      }
    }
  }

  @Test
  void meanings_areSentencesThatFitATable() {
    for (Setting<?> setting : Settings.all()) {
      if (!setting.isIgnored()) {
        assertThat(setting.sentence).endsWith(".").doesNotContain("|", "\n").hasSizeLessThan(120);
      }
    }
  }

  private static String[] company(String name, String... more) {
    Stream<String> fitting =
        COMPANY.stream().filter(flag -> !flag.startsWith("--" + name + "=") && !rivals(flag, name));
    return Stream.concat(fitting, Stream.of(more)).toArray(String[]::new);
  }

  /** Flags that are omitted because they would override the setting or conflict with it. */
  private static boolean rivals(String flag, String name) {
    return switch (name) {
      case "inference-pool", "moriio-write-mode" -> flag.contains(name);
      case "pod-ip" -> flag.contains("moriio-write-mode");
      default -> false;
    };
  }

  private static String sample(Setting<?> setting) {
    String fixed = SAMPLES.get(setting);
    if (fixed != null) {
      return fixed;
    }
    return switch (setting.kind.placeholder()) {
      case "bool" -> setting.byDefault.equals("true") ? "false" : "true";
      case "int" -> "77";
      case "duration" -> "77ms";
      case "size" -> "77KiB";
      case "list" -> "a";
      case "level" -> "5";
      default -> "other.example";
    };
  }
}
