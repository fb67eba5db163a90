package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.semconv.GenAiConvention;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Options that a program sets in addition to the environment. */
public final class TelemetryOptions {

  final String serviceName;
  final @Nullable String serviceVersion;
  final @Nullable SpanNaming spanNaming;
  final @Nullable GenAiConvention genAiConvention;
  final Duration closeTimeout;
  final boolean closesOnShutdown;
  final boolean registersGlobally;
  final Map<String, String> settings;

  private TelemetryOptions(Builder builder) {
    serviceName = builder.serviceName;
    serviceVersion = builder.serviceVersion;
    spanNaming = builder.spanNaming;
    genAiConvention = builder.genAiConvention;
    closeTimeout = builder.closeTimeout;
    closesOnShutdown = builder.closesOnShutdown;
    registersGlobally = builder.registersGlobally;
    settings = Map.copyOf(builder.settings);
  }

  /** Returns options that set nothing: the environment and the defaults apply. */
  public static TelemetryOptions defaults() {
    return builder().build();
  }

  /** Creates a builder. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builder for {@link TelemetryOptions}. */
  public static final class Builder {

    private static final Duration MAX_CLOSE_TIMEOUT = Duration.ofHours(1);

    private String serviceName = "llm-gateway";
    private @Nullable String serviceVersion;
    private @Nullable SpanNaming spanNaming;
    private @Nullable GenAiConvention genAiConvention;
    private Duration closeTimeout = Duration.ofSeconds(5);
    private boolean closesOnShutdown;
    private boolean registersGlobally;
    private final Map<String, String> settings = new LinkedHashMap<>();

    private Builder() {}

    /** Sets the service's name; {@code OTEL_SERVICE_NAME} overrides it. */
    public Builder serviceName(String name) {
      this.serviceName = Objects.requireNonNull(name, "name");
      return this;
    }

    /** Sets the service's version; by default the version in the caller's jar. */
    public Builder serviceVersion(String version) {
      this.serviceVersion = Objects.requireNonNull(version, "version");
      return this;
    }

    /** Sets the naming scheme of spans, overriding {@code INFERSPAN_SPAN_NAMES}. */
    public Builder spanNaming(SpanNaming naming) {
      this.spanNaming = Objects.requireNonNull(naming, "naming");
      return this;
    }

    /** Sets the GenAI keys to write, overriding {@code OTEL_SEMCONV_STABILITY_OPT_IN}. */
    public Builder genAiConvention(GenAiConvention convention) {
      this.genAiConvention = Objects.requireNonNull(convention, "convention");
      return this;
    }

    /** Sets the timeout of the export by {@link Telemetry#close()}; five seconds by default. */
    public Builder closeTimeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(MAX_CLOSE_TIMEOUT) > 0) {
        throw new IllegalArgumentException(
            "closeTimeout is "
                + timeout
                + ", but must be above 0 and at most "
                + MAX_CLOSE_TIMEOUT);
      }
      this.closeTimeout = timeout;
      return this;
    }

    /** Closes the telemetry when the JVM shuts down. */
    public Builder closeOnShutdown() {
      this.closesOnShutdown = true;
      return this;
    }

    /** Registers the telemetry as {@code GlobalOpenTelemetry}, for other instrumentation. */
    public Builder registerGlobally() {
      this.registersGlobally = true;
      return this;
    }

    /** Sets a property, such as {@code otel.traces.sampler}, overriding the environment. */
    public Builder setting(String property, String value) {
      settings.put(property, value);
      return this;
    }

    /** Builds the options. */
    public TelemetryOptions build() {
      return new TelemetryOptions(this);
    }
  }
}
