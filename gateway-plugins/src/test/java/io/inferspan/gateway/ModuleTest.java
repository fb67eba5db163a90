package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import java.io.File;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ModuleTest {

  private static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  /** Frameworks are optional on the module path, too. */
  @Test
  void module_isResolvedWithOpenTelemetryAlone() throws URISyntaxException {
    Stream<Path> openTelemetry =
        Arrays.stream(CLASS_PATH.split(File.pathSeparator))
            .map(Path::of)
            .filter(path -> path.getFileName().toString().startsWith("opentelemetry-"));
    Stream<Path> ours = Stream.of(home(GatewayTracing.class), home(Telemetry.class));
    ModuleFinder finder = ModuleFinder.of(Stream.concat(ours, openTelemetry).toArray(Path[]::new));

    Configuration resolved =
        ModuleLayer.boot()
            .configuration()
            .resolve(finder, ModuleFinder.of(), Set.of("io.inferspan.gateway"));

    assertThat(resolved.findModule("io.inferspan.gateway")).isPresent();
    assertThat(resolved.modules()).noneMatch(module -> module.name().startsWith("io.vertx"));
  }

  private static Path home(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
