package io.inferspan.pd.metrics;

import io.inferspan.pd.metrics.ExemplarScope.Observation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Makes the sidecar's meters, each once; what comes out is held and called. */
final class Meters {

  /** llm-d's own prefix; who reads its dashboards finds the same names. */
  static final String LLM_D = "llm_d_disagg_sidecar_";

  /** The prefix of what llm-d does not count. */
  static final String OURS = "inferspan_pd_";

  /** Up to the first token: a cached prompt takes milliseconds, a long one in a queue minutes. */
  static final Duration[] UP_TO_FIRST_TOKEN =
      millis(5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 10_000, 30_000, 120_000);

  /** Whole answers: a few tokens take a tenth of a second, a long reasoning half an hour. */
  static final Duration[] WHOLE_ANSWER =
      millis(
          50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000,
          640_000, 1_800_000);

  private final MeterRegistry registry;

  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  private static Duration[] millis(long... bounds) {
    Duration[] durations = new Duration[bounds.length];
    for (int i = 0; i < bounds.length; i++) {
      durations[i] = Duration.ofMillis(bounds[i]);
    }
    return durations;
  }

  Observation counter(String name, String description) {
    return register(Counter.builder(name).description(description));
  }

  /** A counter for each value of a label, so that all are there from the start, at zero. */
  <K> Map<K, Observation> counters(
      String name,
      String description,
      String label,
      Collection<K> values,
      Function<K, String> text) {
    Map<K, Observation> counters = new HashMap<>();
    for (K value : values) {
      Counter.Builder counter = Counter.builder(name).description(description);
      counters.put(value, register(counter.tag(label, text.apply(value))));
    }
    return counters;
  }

  private Observation register(Counter.Builder counter) {
    return counter.register(registry)::increment;
  }

  Observation histogram(String name, String description, Duration[] bounds) {
    Timer timer =
        Timer.builder(name)
            .description(description)
            .serviceLevelObjectives(bounds)
            .register(registry);
    return nanos -> timer.record(nanos, TimeUnit.NANOSECONDS);
  }
}
