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

/**
 * Starts and closes the extensions of a {@link Telemetry}. A failure is logged and has no other
 * effect.
 */
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

  /** Finds the extensions on this library's class path; ignores those that cannot be created. */
  static Extensions find(Settings settings) {
    return of(
        ServiceLoader.load(TelemetryExtension.class, Telemetry.class.getClassLoader()).iterator(),
        settings);
  }

  /** Prepares the extensions that are enabled. */
  static Extensions of(Iterator<TelemetryExtension> candidates, Settings settings) {
    List<TelemetryExtension> found = new ArrayList<>();
    // A broken line of a service file is skipped. The limit ends the loop if the iterator fails at
    // every call.
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
        warn("An extension could not be created and is ignored", e);
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
        warn("The extension " + extension.getClass().getName() + " could not be started", e);
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

  /** Registers the meters of the extensions that have any. */
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

  /** Closes the extensions in the reverse order of their start. */
  void close() {
    while (!joined.isEmpty()) {
      try {
        joined.pop().close();
      } catch (Exception | LinkageError e) {
        warn("An extension could not be closed", e);
      }
    }
  }

  private static void warn(String sentence, Throwable cause) {
    LOGGER.log(Level.WARNING, sentence + ": " + cause);
  }
}
