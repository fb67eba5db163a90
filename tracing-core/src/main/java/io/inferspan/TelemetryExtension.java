package io.inferspan;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something beside the program that joins its telemetry, found by {@link java.util.ServiceLoader}.
 *
 * <p>{@link Telemetry#initTracing()} makes every extension on the class path and, unless {@code
 * INFERSPAN_<NAME>=off}, has it prepare before it builds the SDK, and join once the telemetry
 * stands. So one does nothing when it is made. One that fails costs a line in the log and nothing
 * else. {@link Telemetry#using} joins none: who brings an OpenTelemetry of their own composes by
 * hand, and may do so many times in one process.
 */
public interface TelemetryExtension {

  /** One lower-case word: the extension {@code ebpf} is switched by {@code INFERSPAN_EBPF}. */
  String name();

  /** Called before the SDK is built, and so before OpenTelemetry's context is in use. */
  default void prepare() {}

  /**
   * Joins a telemetry that has just been made.
   *
   * @param telemetry takes the extension's spans
   * @param settings tells a property's value, such as that of {@code inferspan.ebpf.paths}, or null
   *     where nobody has set it
   * @return leaves the telemetry, within a bound; called before the last spans are sent
   * @throws Exception if it cannot join; where that is to be expected, an extension says so itself
   *     and returns something that does nothing
   */
  AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings)
      throws Exception;

  /** What joins may be this, and then has meters of its own. */
  interface Metered extends AutoCloseable {

    /** Registers them; called by {@link Telemetry#bindTo}. */
    void bindTo(MeterRegistry registry);
  }
}
