package io.inferspan;

import io.inferspan.setup.Settings;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** The lifecycle of one telemetry's extensions; their failures are contained. */
final class Extensions {

  private static final Logger LOGGER = System.getLogger("io.inferspan");
  private static final String AUTO = "auto";
  private static final String OFF = "off";

  private final List<TelemetryExtension> found;
  private final Deque<AutoCloseable> joined = new ArrayDeque<>();

  private Extensions(List<TelemetryExtension> found) {
    this.found = found;
  }

  static Extensions none() {
    return new Extensions(List.of());
  }

  /** Those on the class path of this library; one that cannot even be made is left out. */
  static Extensions find(Settings settings) {
    return of(
        ServiceLoader.load(TelemetryExtension.class, Telemetry.class.getClassLoader()).iterator(),
        settings);
  }

  /** Those that are switched on, prepared. */
  static Extensions of(Iterator<TelemetryExtension> candidates, Settings settings) {
    List<TelemetryExtension> found = new ArrayList<>();
    // A service file may be broken in one line and good in the next, but not without end.
    for (int failures = 0; failures < 10; ) {
      try {
        if (!candidates.hasNext()) {
          break;
        }
        TelemetryExtension candidate = candidates.next();
        if (isOn(candidate.name(), settings)) {
          candidate.prepare();
          found.add(candidate);
        }
      } catch (ServiceConfigurationError | RuntimeException | LinkageError e) {
        warn("An extension could not be made and is left out", e);
        failures++;
      }
    }
    return new Extensions(found);
  }

  void join(Telemetry telemetry, Settings settings) {
    for (TelemetryExtension extension : found) {
      try {
        joined.push(extension.join(telemetry, settings::find));
      } catch (Exception | LinkageError e) {
        warn("The extension " + extension.getClass().getName() + " did not join", e);
      }
    }
  }

  private static boolean isOn(String name, Settings settings) {
    String property = "inferspan." + name;
    String setting = settings.find(property);
    if (setting == null || setting.equalsIgnoreCase(AUTO)) {
      return true;
    }
    if (setting.equalsIgnoreCase(OFF)) {
      return false;
    }
    LOGGER.log(
        Level.WARNING,
        "%s is '%s', but must be auto or off; using 'auto'"
            .formatted(Settings.environmentName(property), setting));
    return true;
  }

  /** Registers the meters of those that have any. */
  void bindTo(MeterRegistry registry) {
    for (AutoCloseable one : joined) {
      if (one instanceof TelemetryExtension.Metered metered) {
        try {
          metered.bindTo(registry);
        } catch (RuntimeException | LinkageError e) {
          warn("The meters of an extension could not be registered", e);
        }
      }
    }
  }

  /** Leaves, the last that joined first. */
  void close() {
    while (!joined.isEmpty()) {
      try {
        joined.pop().close();
      } catch (Exception | LinkageError e) {
        warn("An extension did not leave in order", e);
      }
    }
  }

  private static void warn(String sentence, Throwable cause) {
    LOGGER.log(Level.WARNING, sentence + ": " + cause);
  }
}
