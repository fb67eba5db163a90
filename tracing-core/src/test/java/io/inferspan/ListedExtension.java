package io.inferspan;

import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The extension in the service file of these tests, with behaviour set by the test. */
public final class ListedExtension implements TelemetryExtension {

  static volatile @Nullable BiFunction<Telemetry, Function<String, @Nullable String>, AutoCloseable>
      onJoin;

  static volatile @Nullable Telemetry joined;

  @Override
  public String name() {
    return "listed";
  }

  @Override
  public AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings) {
    joined = telemetry;
    var wanted = onJoin;
    return wanted == null ? () -> {} : wanted.apply(telemetry, settings);
  }
}
