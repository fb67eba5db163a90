package io.inferspan.kvcache.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The redis-server 6.2 of a Maven artifact, for machines that have none on the PATH. */
final class PackagedRedis {

  private static final @Nullable Path EXECUTABLE = extract();

  private PackagedRedis() {}

  /** Its path, or null when the artifact has none that runs on this machine. */
  static @Nullable String path() {
    return EXECUTABLE == null ? null : EXECUTABLE.toString();
  }

  private static @Nullable Path extract() {
    String platform = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
    List<String> names =
        switch (platform.toLowerCase(Locale.ROOT)) {
          // The second is linked statically: it runs without libssl.so.3, too.
          case "linux-amd64" ->
              List.of("redis-server-6.2.6-v5-linux-amd64", "redis-server-6.2.7-linux-386");
          case "linux-aarch64" -> List.of("redis-server-6.2.7-linux-arm64");
          case "mac os x-aarch64" -> List.of("redis-server-6.2.6-v5-darwin-arm64");
          case "mac os x-x86_64" -> List.of("redis-server-6.2.6-v5-darwin-amd64");
          default -> List.of();
        };
    return names.stream()
        .map(PackagedRedis::extract)
        .filter(PackagedRedis::runs)
        .findFirst()
        .orElse(null);
  }

  private static Path extract(String name) {
    try (InputStream binary = PackagedRedis.class.getResourceAsStream("/" + name)) {
      if (binary == null) {
        throw new IllegalStateException("embedded-redis does not contain " + name);
      }
      Path file = Files.createTempFile("redis-server", "");
      file.toFile().deleteOnExit();
      Files.write(file, binary.readAllBytes());
      if (!file.toFile().setExecutable(true)) {
        throw new IOException("cannot make " + file + " executable");
      }
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean runs(Path file) {
    try {
      Process version = new ProcessBuilder(file.toString(), "--version").start();
      version.getInputStream().readAllBytes();
      return version.waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
