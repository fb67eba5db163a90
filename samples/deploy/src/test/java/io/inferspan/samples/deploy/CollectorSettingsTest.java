package io.inferspan.samples.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The collectors' configurations have only settings that the collector knows, of their types. */
class CollectorSettingsTest {

  private final Object known = only(Path.of("src/test/resources/collector-settings.yaml"));

  CollectorSettingsTest() throws IOException {}

  private static Object only(Path file) throws IOException {
    return Yaml.documents(file).getFirst().map();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "collector-config.yaml",
        "fleet/collector-config.yaml",
        "fleet/sampler-config.yaml"
      })
  void settings_areThoseOfTheCollector(String file) throws IOException {
    assertThat(faults(file, only(Manifests.FOLDER.resolve(file)), known)).isEmpty();
  }

  @Test
  void unknownAndMistypedSettings_areFound() {
    Object dns = Map.of("dns", Map.of("hostnam", "otel-sampler", "port", 4317, "interval", "5"));
    Object extensions = Map.of("extensions", List.of("health_check", 1));
    Object config =
        Map.of(
            "exporters",
            Map.of("loadbalancing", Map.of("resolver", dns)),
            "service",
            extensions,
            "processors",
            "batch");

    assertThat(faults("", config, known))
        .containsExactlyInAnyOrder(
            ".exporters.loadbalancing.resolver.dns.hostnam is unknown",
            ".exporters.loadbalancing.resolver.dns.port is no string",
            ".exporters.loadbalancing.resolver.dns.interval is no duration",
            ".service.extensions[] is no string",
            ".processors is no map");
  }

  private static List<String> faults(String where, Object value, Object type) {
    List<String> faults = new ArrayList<>();
    if (type instanceof Map<?, ?> settings) {
      if (!(value instanceof Map<?, ?> values)) {
        return List.of(where + " is no map");
      }
      values.forEach(
          (name, each) -> {
            String at = where + "." + name;
            Object known = settings.get(name);
            faults.addAll(known == null ? List.of(at + " is unknown") : faults(at, each, known));
          });
    } else if (type instanceof List<?> one) {
      if (!(value instanceof List<?> items)) {
        return List.of(where + " is no list");
      }
      items.forEach(each -> faults.addAll(faults(where + "[]", each, one.getFirst())));
    } else if (!isOf(String.valueOf(type), value)) {
      return List.of(where + " is no " + type);
    }
    return faults;
  }

  private static boolean isOf(String type, Object value) {
    return switch (type) {
      case "string" -> value instanceof String;
      case "integer" -> value instanceof Integer;
      case "number" -> value instanceof Number;
      case "boolean" -> value instanceof Boolean;
      case "duration" -> value instanceof String text && text.matches("\\d+(ms|s|m|h)");
      default -> throw new IllegalArgumentException(type);
    };
  }
}
