package io.inferspan.samples.desk;

import io.inferspan.samples.desk.store.Bounds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the desk. A port of 0 picks a free port.
 *
 * @param host the address to listen on
 * @param port the port of the page
 * @param bounds limits of the span store
 * @param stacks the directory with recorded stacks, or null
 */
public record DeskConfig(
    String host,
    int port,
    int otlpHttpPort,
    int otlpGrpcPort,
    Bounds bounds,
    @Nullable Path stacks) {

  private static final int MAX_PORT = 65_535;
  private static final long MIN_SPANS = 100;
  private static final long MAX_SPANS = 100_000_000;
  private static final long MIN_BYTES = 1 << 20;

  /** By default, spans may use the heap divided by this; the rest is for requests and responses. */
  private static final int HEAP_DIVISOR = 2;

  /**
   * Reads flags and environment variables.
   *
   * @throws IllegalArgumentException if a value is invalid; the message is one sentence for the
   *     user
   */
  public static DeskConfig parse(List<String> arguments, Map<String, String> environment) {
    Settings settings = new Settings(arguments, environment);
    return new DeskConfig(
        settings.text(Setting.HOST),
        port(settings, Setting.PORT),
        port(settings, Setting.OTLP_HTTP_PORT),
        port(settings, Setting.OTLP_GRPC_PORT),
        Bounds.of(settings.number(Setting.MAX_SPANS, MIN_SPANS, MAX_SPANS), bytes(settings)),
        stacks(settings));
  }

  private static @Nullable Path stacks(Settings settings) {
    String given = settings.text(Setting.STACKS);
    if (given.isEmpty()) {
      return null;
    }
    Path directory = Path.of(given);
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException(
          settings.source(Setting.STACKS) + " is " + given + ", but must be a directory.");
    }
    return directory;
  }

  private static int port(Settings settings, Setting setting) {
    return (int) settings.number(setting, 0, MAX_PORT);
  }

  private static long bytes(Settings settings) {
    return settings.text(Setting.MAX_BYTES).equals(Setting.MAX_BYTES.defaultValue())
        ? Runtime.getRuntime().maxMemory() / HEAP_DIVISOR
        : settings.number(Setting.MAX_BYTES, MIN_BYTES, Long.MAX_VALUE);
  }
}
