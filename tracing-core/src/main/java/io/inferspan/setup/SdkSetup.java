package io.inferspan.setup;

import io.inferspan.exporter.AccountedSpanExporter;
import io.inferspan.exporter.AccountedSpanProcessor;
import io.inferspan.exporter.ConsoleExporterProvider;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.recording.SpanPipeline;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdkBuilder;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Builds the OpenTelemetry SDK that the environment configures. Uses the SDK's autoconfiguration,
 * and adds Inferspan's defaults, corrections, privacy guard and accounting.
 */
public final class SdkSetup {

  private static final String DISABLED = "otel.sdk.disabled";
  private static final String QUEUE_SIZE = "otel.bsp.max.queue.size";
  private static final int DEFAULT_QUEUE_SIZE = 2_048;

  /** The SDK's exporter that gets no batches: spans are passed to it one by one. */
  private static final String UNBATCHED_EXPORTER = "LoggingSpanExporter";

  private static final Map<String, String> DEFAULTS =
      Map.of(
          SamplerRules.SAMPLER,
          SamplerRules.DEFAULT_SAMPLER,
          SamplerRules.ARGUMENT,
          SamplerRules.DEFAULT_RATIO,
          ExporterRules.EXPORTER,
          ExporterRules.OTLP,
          "otel.metrics.exporter",
          "none",
          "otel.logs.exporter",
          "none",
          "otel.propagators",
          "tracecontext,baggage");

  private static final SpanProcessor NONE = SpanProcessor.composite();

  private final Settings settings;
  private final UnaryOperator<SpanExporter> guard;
  private final Consumer<String> warnings;
  private final List<AccountedSpanExporter> exporters = new ArrayList<>();
  private final List<SpanProcessor> processors = new ArrayList<>();
  private Resource resource = Resource.empty();
  private @Nullable ConfigProperties config;
  private @Nullable ExportAccounting accounting;
  private boolean disabled;

  /**
   * Prepares an SDK.
   *
   * @param settings the settings of the program and the environment
   * @param guard wraps an exporter in the privacy guard
   * @param warnings receives a sentence for each corrected setting
   */
  public SdkSetup(Settings settings, UnaryOperator<SpanExporter> guard, Consumer<String> warnings) {
    this.settings = settings;
    this.guard = guard;
    this.warnings = warnings;
  }

  /**
   * Builds the SDK.
   *
   * @param service the service's name, unless the environment sets one
   * @param version the service's version, unless the environment sets one
   * @param global whether the SDK becomes the process's {@code GlobalOpenTelemetry}
   */
  public InstalledSdk build(String service, String version, boolean global) {
    AutoConfiguredOpenTelemetrySdkBuilder builder =
        AutoConfiguredOpenTelemetrySdk.builder()
            .disableShutdownHook()
            .setComponentLoader(new OneSender(plugins()))
            .addPropertiesSupplier(() -> DEFAULTS)
            .addPropertiesCustomizer(config -> settings.given())
            .addPropertiesCustomizer(config -> settings.withoutEmpty(config, DEFAULTS))
            .addPropertiesCustomizer(this::corrected)
            .addPropertiesCustomizer(this::keep)
            .addResourceCustomizer((configured, config) -> completed(configured, service, version))
            .addSpanExporterCustomizer((exporter, config) -> guarded(exporter))
            .addSpanProcessorCustomizer((processor, config) -> accounted(processor))
            .addSamplerCustomizer((sampler, config) -> StartupSampler.around(sampler))
            .addTracerProviderCustomizer((provider, config) -> withSomeProcessor(provider));
    if (global) {
      builder.setResultAsGlobal();
    }
    OpenTelemetrySdk sdk = build(builder);
    rejectConfigFile(sdk);
    chooseReportingExporter();
    return new InstalledSdk(
        sdk,
        accounting(),
        List.copyOf(exporters),
        isCustomised() ? null : pipeline(sdk),
        disabled,
        summary(config()));
  }

  private static OpenTelemetrySdk build(AutoConfiguredOpenTelemetrySdkBuilder builder) {
    try {
      return builder.build().getOpenTelemetrySdk();
    } catch (ConfigurationException e) {
      Throwable cause = e.getCause();
      throw cause == null
          ? e
          : new ConfigurationException(
              e.getMessage() + ": " + Objects.requireNonNullElse(cause.getMessage(), cause), e);
    }
  }

  /**
   * Adds an empty processor if there is none. Without a processor the SDK creates no spans, but
   * contexts must be sampled and propagated even if no span is exported.
   */
  private SdkTracerProviderBuilder withSomeProcessor(SdkTracerProviderBuilder builder) {
    return processors.isEmpty()
        ? builder.addSpanProcessor(SpanProcessor.composite(NONE, NONE))
        : builder;
  }

  /** Rejects a declarative configuration file, which would bypass the privacy guard. */
  private void rejectConfigFile(OpenTelemetrySdk sdk) {
    if (accounting == null) {
      sdk.close();
      throw new ConfigurationException(
          "OTEL_CONFIG_FILE is set, but initTracing reads only OTEL_* variables; build the SDK from"
              + " the file and pass it to Telemetry.using");
    }
  }

  private static ComponentLoader plugins() {
    return ComponentLoader.forClassLoader(SdkSetup.class.getClassLoader());
  }

  private Map<String, String> corrected(ConfigProperties config) {
    disabled = config.getBoolean(DISABLED, false);
    accounting = new ExportAccounting(config.getInt(QUEUE_SIZE, DEFAULT_QUEUE_SIZE));
    return Corrections.of(config, warnings);
  }

  private Map<String, String> keep(ConfigProperties corrected) {
    config = corrected;
    return Map.of();
  }

  private Resource completed(Resource configured, String service, String version) {
    resource = ResourceRules.complete(configured, service, version);
    return resource;
  }

  /** Returns whether a plugin may have set an id generator or a processor. */
  private static boolean isCustomised() {
    return plugins().load(AutoConfigurationCustomizerProvider.class).iterator().hasNext();
  }

  private ConfigProperties config() {
    return Objects.requireNonNull(config, "settings are read before anything is built");
  }

  /** Returns the SDK components that our own recording needs. */
  private SpanPipeline pipeline(OpenTelemetrySdk sdk) {
    SdkTracerProvider provider = sdk.getSdkTracerProvider();
    return new SpanPipeline(
        resource,
        provider.getSampler(),
        SpanProcessor.composite(processors),
        provider.getSpanLimits(),
        IdGenerator.random(),
        Clock.getDefault(),
        accounting());
  }

  private SpanExporter guarded(SpanExporter exporter) {
    SpanExporter guarded = guard.apply(exporter);
    if (exporter.getClass().getSimpleName().equals(UNBATCHED_EXPORTER)) {
      return guarded;
    }
    AccountedSpanExporter accounted = new AccountedSpanExporter(guarded, accounting());
    exporters.add(accounted);
    return accounted;
  }

  /** Chooses the exporter whose results are counted: OTLP if present, else the first by name. */
  private void chooseReportingExporter() {
    exporters.stream()
        .min(
            Comparator.comparing((AccountedSpanExporter e) -> !e.toString().startsWith("Otlp"))
                .thenComparing(AccountedSpanExporter::toString))
        .ifPresent(AccountedSpanExporter::reportResults);
  }

  private SpanProcessor accounted(SpanProcessor processor) {
    SpanProcessor used =
        processor instanceof BatchSpanProcessor
            ? new AccountedSpanProcessor(processor, accounting())
            : processor;
    processors.add(used);
    return used;
  }

  private ExportAccounting accounting() {
    return Objects.requireNonNull(accounting, "settings are read before anything is built");
  }

  /** Returns the sentence to log after a successful start. */
  private String summary(ConfigProperties config) {
    String service = resource.getAttribute(ResourceRules.SERVICE_NAME);
    if (disabled) {
      return "Tracing is off (OTEL_SDK_DISABLED=true); '" + service + "' propagates contexts only";
    }
    return "Tracing '%s': sampler %s, spans go to %s"
        .formatted(service, sampler(config), destinations(config));
  }

  private static String destinations(ConfigProperties config) {
    return config.getList(ExporterRules.EXPORTER).stream()
        .map(name -> name.equals(ExporterRules.OTLP) ? collector(config) : shown(name))
        .collect(Collectors.joining(", "));
  }

  private static String shown(String exporter) {
    return exporter.equals(ConsoleExporterProvider.NAME) ? ExporterRules.CONSOLE : exporter;
  }

  private static String sampler(ConfigProperties config) {
    String sampler = config.getString(SamplerRules.SAMPLER, "");
    return sampler.contains("ratio")
        ? sampler + " " + config.getString(SamplerRules.ARGUMENT, "")
        : sampler;
  }

  private static String collector(ConfigProperties config) {
    String protocol = config.getString(ExporterRules.TRACES_PROTOCOL, "");
    String traces = config.getString("otel.exporter.otlp.traces.endpoint");
    String endpoint = traces != null ? traces : config.getString("otel.exporter.otlp.endpoint");
    if (endpoint == null) {
      endpoint = "http://localhost:" + (protocol.equals(ExporterRules.HTTP) ? 4318 : 4317);
    }
    // The address may contain credentials.
    return "OTLP (%s) at %s".formatted(protocol, endpoint.replaceFirst("//[^/]*@", "//"));
  }
}
