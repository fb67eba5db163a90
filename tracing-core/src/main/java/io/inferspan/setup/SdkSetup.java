package io.inferspan.setup;

import io.inferspan.export.AccountedSpanExporter;
import io.inferspan.export.AccountedSpanProcessor;
import io.inferspan.export.ExportAccounting;
import io.inferspan.privacy.PrivacyGuard;
import io.inferspan.privacy.SpanScrubber;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds the OpenTelemetry SDK that the environment asks for, with our defaults, our corrections,
 * our guard and our books around what the SDK's own autoconfiguration makes.
 */
public final class SdkSetup {

  private static final String DISABLED = "otel.sdk.disabled";
  private static final String QUEUE_SIZE = "otel.bsp.max.queue.size";
  private static final int DEFAULT_QUEUE_SIZE = 2_048;

  /** The SDK hands this one span by span. */
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

  private final Settings settings;
  private final SpanScrubber scrubber;
  private final Consumer<String> warnings;
  private final List<AccountedSpanExporter> exporters = new ArrayList<>();
  private final List<SpanProcessor> processors = new ArrayList<>();
  private Resource resource = Resource.empty();
  private @Nullable ExportAccounting accounting;
  private boolean disabled;

  /**
   * Prepares an SDK.
   *
   * @param settings what the program and the environment say
   * @param scrubber what goes before every exporter
   * @param warnings takes a sentence for each setting that was corrected
   */
  public SdkSetup(Settings settings, SpanScrubber scrubber, Consumer<String> warnings) {
    this.settings = settings;
    this.scrubber = scrubber;
    this.warnings = warnings;
  }

  /** Builds the SDK; {@code service} is who it speaks for where the environment does not say. */
  public InstalledSdk build(Service service, boolean global) {
    AutoConfiguredOpenTelemetrySdkBuilder builder =
        AutoConfiguredOpenTelemetrySdk.builder()
            .disableShutdownHook()
            .setComponentLoader(new OneSender(plugins()))
            .addPropertiesSupplier(() -> DEFAULTS)
            .addPropertiesCustomizer(config -> settings.given())
            .addPropertiesCustomizer(this::corrected)
            .addResourceCustomizer((configured, config) -> completed(configured, service))
            .addSpanExporterCustomizer((exporter, config) -> guarded(exporter))
            .addSpanProcessorCustomizer((processor, config) -> accounted(processor))
            .addTracerProviderCustomizer((provider, config) -> withSomeProcessor(provider));
    if (global) {
      builder.setResultAsGlobal();
    }
    OpenTelemetrySdk sdk = build(builder);
    requireOurs(sdk);
    chooseBookkeeper();
    return new InstalledSdk(sdk, books(), List.copyOf(exporters), pipeline(sdk), disabled);
  }

  private static OpenTelemetrySdk build(AutoConfiguredOpenTelemetrySdkBuilder builder) {
    try {
      return builder.build().getOpenTelemetrySdk();
    } catch (ConfigurationException e) {
      Throwable cause = e.getCause();
      throw cause == null ? e : new ConfigurationException(e.getMessage() + ": " + cause, e);
    }
  }

  /**
   * Without any processor the SDK makes no spans at all; but where nothing is exported, they still
   * are sampled and propagated.
   */
  private SdkTracerProviderBuilder withSomeProcessor(SdkTracerProviderBuilder builder) {
    return processors.isEmpty() ? builder.addSpanProcessor(new UnheardSpans()) : builder;
  }

  /** A declarative configuration file passes by everything that we add, the privacy guard first. */
  private void requireOurs(OpenTelemetrySdk sdk) {
    if (accounting == null) {
      sdk.close();
      throw new ConfigurationException(
          "OTEL_CONFIG_FILE is set, but initTracing takes OTEL_* variables only; build the SDK from"
              + " the file and give it to Telemetry.using");
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

  private Resource completed(Resource configured, Service service) {
    resource = ResourceRules.complete(configured, service);
    return resource;
  }

  /**
   * What our own recording needs to know of the SDK. A plugin may set an id generator or add a
   * processor without our seeing it; then the SDK records.
   */
  private @Nullable SpanPipeline pipeline(OpenTelemetrySdk sdk) {
    if (plugins().load(AutoConfigurationCustomizerProvider.class).iterator().hasNext()) {
      return null;
    }
    SdkTracerProvider provider = sdk.getSdkTracerProvider();
    return new SpanPipeline(
        resource,
        provider.getSampler(),
        SpanProcessor.composite(processors),
        provider.getSpanLimits(),
        IdGenerator.random()::generateTraceId,
        () -> ThreadLocalRandom.current().nextLong(),
        Clock.getDefault(),
        books()::isCrowded);
  }

  private SpanExporter guarded(SpanExporter exporter) {
    PrivacyGuard guarded = PrivacyGuard.before(exporter, scrubber);
    if (exporter.getClass().getSimpleName().equals(UNBATCHED_EXPORTER)) {
      return guarded;
    }
    AccountedSpanExporter accounted = new AccountedSpanExporter(guarded, books());
    exporters.add(accounted);
    return accounted;
  }

  /** Where there are several exporters, the books follow OTLP, else the first by name. */
  private void chooseBookkeeper() {
    exporters.stream()
        .min(
            Comparator.comparing((AccountedSpanExporter e) -> !e.toString().startsWith("Otlp"))
                .thenComparing(AccountedSpanExporter::toString))
        .ifPresent(AccountedSpanExporter::keepBooks);
  }

  private SpanProcessor accounted(SpanProcessor processor) {
    SpanProcessor used =
        processor instanceof BatchSpanProcessor
            ? new AccountedSpanProcessor(processor, books())
            : processor;
    processors.add(used);
    return used;
  }

  private ExportAccounting books() {
    return Objects.requireNonNull(accounting, "settings are read before anything is built");
  }
}
