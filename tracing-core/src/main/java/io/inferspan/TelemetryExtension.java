package io.inferspan;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Extends a {@link Telemetry}; found by {@link java.util.ServiceLoader}.
 *
 * <p>{@link Telemetry#initTracing()} instantiates every extension on the class path. Unless {@code
 * INFERSPAN_<NAME>=off}, it calls {@code prepare} before it builds the SDK, and {@code join} with
 * the finished instance. A constructor must therefore have no side effects. A failure is logged in
 * one line and has no other effect. {@link Telemetry#using} joins no extensions; the program can
 * create and join them itself.
 */
public interface TelemetryExtension {

  /**
   * Returns the name, one lower-case word; the extension {@code ebpf} is controlled by {@code
   * INFERSPAN_EBPF}.
   */
  String name();

  /** Called before the SDK is built and before OpenTelemetry's {@code Context} is used. */
  default void prepare() {}

  /**
   * Joins a new {@link Telemetry}.
   *
   * @param telemetry receives the extension's spans
   * @param settings returns a property's value, such as that of {@code inferspan.ebpf.paths}, or
   *     null if it is not set
   * @return a handle, which is closed before the last spans are exported; the time that closing
   *     takes is not limited
   * @throws Exception if it cannot join; for an expected reason, log it and return a no-op handle
   *     instead
   */
  AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings)
      throws Exception;

  /** Implemented by a joined extension that has meters. */
  interface Metered extends AutoCloseable {

    /** Registers the meters; called by {@link Telemetry#bindTo}. */
    void bindTo(MeterRegistry registry);
  }
}
