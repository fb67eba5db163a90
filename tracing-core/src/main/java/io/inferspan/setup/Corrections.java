package io.inferspan.setup;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Replaces {@code OTEL_*} settings: invalid ones with a warning, others silently. */
record Corrections(
    ConfigProperties config, Consumer<String> warnings, Map<String, String> corrected) {
  /** Returns the corrected properties with their new values. */
  static Map<String, String> of(ConfigProperties config, Consumer<String> warnings) {
    Corrections corrections = new Corrections(config, warnings, new LinkedHashMap<>());
    SamplerRules.apply(corrections);
    ExporterRules.apply(corrections);
    ResourceRules.apply(corrections);
    return corrections.corrected;
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
