package io.inferspan.samples.backends;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Checks that the files to copy are consistent with each other; starts no container. */
class ConfigurationsTest {

  @ParameterizedTest
  @ValueSource(strings = {"collector", "jaeger", "tempo", "zipkin"})
  void endpoint_isAPortInTheComposeFile(String backend) throws IOException {
    String compose = Files.readString(Path.of(backend, "compose.yaml"));

    List<String> endpoints =
        variables(backend).filter(line -> line.contains("_ENDPOINT=")).toList();

    assertThat(endpoints)
        .isNotEmpty()
        .allSatisfy(
            line -> {
              URI endpoint = URI.create(line.substring(line.indexOf('=') + 1));
              assertThat(ports(compose))
                  .contains("127.0.0.1:%1$d:%1$d".formatted(endpoint.getPort()));
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"collector", "jaeger", "tempo", "zipkin"})
  void mountedFiles_exist(String backend) throws IOException {
    for (Object service : services(Files.readString(Path.of(backend, "compose.yaml"))).values()) {
      for (Object volume : list(((Map<?, ?>) service).get("volumes"))) {
        assertThat(Path.of(backend, String.valueOf(volume).split(":", 2)[0])).isRegularFile();
      }
    }
  }

  private static Stream<String> variables(String backend) throws IOException {
    return Files.readAllLines(Path.of(backend, "otel.env")).stream()
        .filter(line -> line.startsWith("export OTEL_"));
  }

  private static List<String> ports(String compose) {
    return services(compose).values().stream()
        .flatMap(service -> list(((Map<?, ?>) service).get("ports")).stream())
        .map(String::valueOf)
        .toList();
  }

  private static Map<?, ?> services(String compose) {
    Load load = new Load(LoadSettings.builder().build());
    Map<?, ?> document = (Map<?, ?>) load.loadFromString(compose);
    return (Map<?, ?>) Objects.requireNonNull(document.get("services"));
  }

  private static List<?> list(@Nullable Object value) {
    return value instanceof List<?> list ? list : List.of();
  }
}
