package io.inferspan.setup;

import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSamplerProvider;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Replaces unknown samplers and invalid sampling ratios. */
final class SamplerRules {

  static final String SAMPLER = "otel.traces.sampler";
  static final String ARGUMENT = "otel.traces.sampler.arg";
  static final String DEFAULT_SAMPLER = "parentbased_traceidratio";
  static final String DEFAULT_RATIO = "0.1";

  private static final Set<String> WITH_RATIO = Set.of("traceidratio", DEFAULT_SAMPLER);
  private static final Set<String> WITHOUT_ARGUMENT =
      Set.of("always_on", "always_off", "parentbased_always_on", "parentbased_always_off");

  private SamplerRules() {}

  static void apply(Corrections corrections) {
    String sampler = corrections.config().getString(SAMPLER, DEFAULT_SAMPLER);
    if (!isKnown(sampler, corrections.config().getComponentLoader())) {
      corrections.replace(
          SAMPLER,
          DEFAULT_SAMPLER,
          "always_on, always_off or traceidratio, with or without the prefix parentbased_");
      corrections.replace(ARGUMENT, DEFAULT_RATIO);
    } else if (WITH_RATIO.contains(sampler) && !isRatio(corrections.config().getString(ARGUMENT))) {
      corrections.replace(ARGUMENT, DEFAULT_RATIO, "a number from 0 to 1");
    }
  }

  private static boolean isKnown(String sampler, ComponentLoader plugins) {
    if (WITH_RATIO.contains(sampler) || WITHOUT_ARGUMENT.contains(sampler)) {
      return true;
    }
    for (ConfigurableSamplerProvider provider : plugins.load(ConfigurableSamplerProvider.class)) {
      if (provider.getName().equals(sampler)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isRatio(@Nullable String argument) {
    if (argument == null) {
      return true;
    }
    try {
      double ratio = Double.parseDouble(argument);
      return ratio >= 0 && ratio <= 1;
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
