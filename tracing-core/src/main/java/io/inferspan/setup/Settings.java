package io.inferspan.setup;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Inferspan's own settings. A value of the program overrides a system property, which overrides an
 * environment variable, as in OpenTelemetry.
 *
 * @param given the program's values by property name
 */
public record Settings(Map<String, String> given) {

  /** Copies the values. */
  public Settings {
    given = Map.copyOf(given);
  }

  /** Returns the value of a property, or null if it is not set or empty. */
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

  /** Returns whether the property is {@code true}. */
  public boolean isTrue(String name) {
    return "true".equalsIgnoreCase(find(name));
  }

  /** Returns the comma-separated values of a property. */
  public List<String> list(String name) {
    String value = find(name);
    return value == null
        ? List.of()
        : Arrays.stream(value.split(",")).map(String::strip).filter(s -> !s.isEmpty()).toList();
  }

  /**
   * Returns the defaults, or null, for all {@code otel.*} properties that are set to an empty
   * value, which OpenTelemetry's specification treats as unset.
   */
  Map<String, @Nullable String> withoutEmpty(
      ConfigProperties config, Map<String, String> defaults) {
    Set<String> names = new HashSet<>(given.keySet());
    names.addAll(System.getProperties().stringPropertyNames());
    System.getenv().keySet().forEach(name -> names.add(propertyName(name)));
    Map<String, @Nullable String> unset = new HashMap<>();
    for (String name : names) {
      String value = name.startsWith("otel.") ? config.getString(name) : null;
      if (value != null && value.isBlank()) {
        unset.put(name, defaults.get(name));
      }
    }
    return unset;
  }

  private static String propertyName(String variable) {
    return variable.toLowerCase(Locale.ROOT).replace('_', '.');
  }

  /** Returns the environment variable for a property: {@code A_B_C} for {@code a.b-c}. */
  public static String environmentName(String property) {
    return property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
