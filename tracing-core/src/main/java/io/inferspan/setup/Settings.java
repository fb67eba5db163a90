package io.inferspan.setup;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Our own settings, looked up as OpenTelemetry looks up its: what the program says, then system
 * properties, then the environment. Nothing is ever written.
 */
public final class Settings {

  private final Map<String, String> given;

  /** Settings of which {@code given} come from the program, under their property names. */
  public Settings(Map<String, String> given) {
    this.given = Map.copyOf(given);
  }

  /** The value of the property {@code name}, or null where it is not set or empty. */
  public @Nullable String find(String name) {
    String value = given.get(name);
    if (value == null) {
      value = System.getProperty(name);
    }
    if (value == null) {
      value = System.getenv(environmentName(name));
    }
    return value == null || value.isBlank() ? null : value.strip();
  }

  /** Whether the property is set to {@code true}. */
  public boolean isTrue(String name) {
    return "true".equalsIgnoreCase(find(name));
  }

  /** The comma-separated values of a property. */
  public List<String> list(String name) {
    String value = find(name);
    return value == null
        ? List.of()
        : Arrays.stream(value.split(",")).map(String::strip).filter(s -> !s.isEmpty()).toList();
  }

  /** What the program gave. */
  Map<String, String> given() {
    return given;
  }

  /** The environment variable of a property: {@code a.b-c} is {@code A_B_C}. */
  public static String environmentName(String property) {
    return property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
