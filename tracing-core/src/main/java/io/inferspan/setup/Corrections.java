package io.inferspan.setup;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Replaces invalid {@code OTEL_*} settings, and logs one warning for each. */
final class Corrections {

  private final ConfigProperties config;
  private final Consumer<String> warnings;
  private final Map<String, String> corrected = new LinkedHashMap<>();

  private Corrections(ConfigProperties config, Consumer<String> warnings) {
    this.config = config;
    this.warnings = warnings;
  }

  /** Returns the corrected properties with their new values. */
  static Map<String, String> of(ConfigProperties config, Consumer<String> warnings) {
    Corrections corrections = new Corrections(config, warnings);
    SamplerRules.apply(corrections);
    ExporterRules.apply(corrections);
    ResourceRules.apply(corrections);
    return corrections.corrected;
  }

  ConfigProperties config() {
    return config;
  }

  /** Replaces a value silently. */
  void replace(String property, String value) {
    corrected.put(property, value);
  }

  /** Replaces a value and logs the original, the allowed values, and the replacement. */
  void replace(String property, String value, String allowed) {
    warnings.accept(
        "%s is '%s', but must be %s; using '%s'"
            .formatted(
                Settings.environmentName(property), config.getString(property), allowed, value));
    corrected.put(property, value);
  }
}
