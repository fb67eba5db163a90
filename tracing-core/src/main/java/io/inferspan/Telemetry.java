package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.export.ExportAccounting;
import io.inferspan.export.SpanCounts;
import io.inferspan.metrics.TelemetryMeters;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.privacy.PrivacyGuard;
import io.inferspan.setup.InstalledSdk;
import io.inferspan.setup.SdkSetup;
import io.inferspan.setup.Service;
import io.inferspan.setup.Settings;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The door: everything that traces a request hangs off it.
 *
 * <ol>
 *   <li>{@link #initTracing()} once, at start;
 *   <li>{@link #extract} the caller's context from the headers of each request;
 *   <li>{@link #span} … {@link PendingSpan#start()} around each operation, under that context;
 *   <li>{@link #inject} the span's context into the headers of each call to another service;
 *   <li>{@link #close()} once, at the end.
 * </ol>
 *
 * <p>After {@code initTracing} has returned, no method throws, waits for the network or lets a
 * request fail, except that {@link #flush} and {@link #close()} wait within their bound.
 */
public final class Telemetry implements AutoCloseable {

  /** Instrumentation scope of spans that no component of the catalogue claims. */
  public static final String DEFAULT_SCOPE = "llm-d-router";

  private static final Logger LOGGER = System.getLogger("io.inferspan");

  private static @Nullable Telemetry installed;
  private static boolean globalWasOurs;

  private final OpenTelemetry openTelemetry;
  private final @Nullable InstalledSdk ownSdk;
  private final TelemetryOptions options;
  private final SpanFactory spans;
  private final ExportAccounting accounting;
  private final AttributePolicy attributes;
  private final Propagation propagation;
  private final SpanNaming spanNaming;
  private Extensions extensions = Extensions.none();
  private @Nullable Thread shutdownHook;
  private boolean closed;

  private Telemetry(
      OpenTelemetry openTelemetry,
      @Nullable InstalledSdk ownSdk,
      TelemetryOptions options,
      Policies policies) {
    this.openTelemetry = openTelemetry;
    this.ownSdk = ownSdk;
    this.options = options;
    this.accounting = ownSdk != null ? ownSdk.accounting() : new ExportAccounting(0);
    this.attributes = policies.attributes();
    this.spanNaming = policies.spans().naming();
    this.propagation = new Propagation(openTelemetry);
    boolean enabled =
        (ownSdk == null || !ownSdk.disabled())
            && !TracerProvider.noop().equals(openTelemetry.getTracerProvider());
    this.spans =
        new SpanFactory(
            policies.spans(),
            new SpanFactory.Source(
                openTelemetry,
                ownSdk == null ? null : ownSdk.pipeline(),
                enabled,
                accounting,
                policies.ownScopes()));
  }

  /** Starts tracing as the {@code OTEL_*} environment says. */
  public static Telemetry initTracing() {
    return initTracing(TelemetryOptions.defaults(), callerVersion());
  }

  /** Starts tracing as the {@code OTEL_*} environment says, for a service of this name. */
  public static Telemetry initTracing(String serviceName) {
    return initTracing(
        TelemetryOptions.builder().serviceName(serviceName).build(), callerVersion());
  }

  /**
   * Starts tracing as the options and the {@code OTEL_*} environment say.
   *
   * <p>An OpenTelemetry that the process already has, from an agent or a framework, is used and
   * left as it is. A second call returns what the first one made.
   */
  public static Telemetry initTracing(TelemetryOptions options) {
    return initTracing(options, callerVersion());
  }

  private static synchronized Telemetry initTracing(
      TelemetryOptions options, String callerVersion) {
    Telemetry existing = installed;
    if (existing != null) {
      LOGGER.log(Level.WARNING, "Tracing is already initialised; the first telemetry is used");
      return existing;
    }
    Settings settings = new Settings(options.settings());
    Extensions extensions = Extensions.find(settings);
    Telemetry telemetry =
        GlobalOpenTelemetry.isSet() ? adopted(options) : ownSdk(options, callerVersion);
    installed = telemetry;
    telemetry.extensions = extensions;
    extensions.join(telemetry, settings);
    if (options.closesOnShutdown()) {
      telemetry.closeWithTheProcess();
    }
    return telemetry;
  }

  private static Telemetry adopted(TelemetryOptions options) {
    if (globalWasOurs) {
      warn("The telemetry that was registered globally is closed; this process traces no more");
    } else {
      LOGGER.log(
          Level.INFO,
          "Using the OpenTelemetry that this process has; its exporters have no privacy guard"
              + " unless Telemetry.guard stands before them");
    }
    return using(GlobalOpenTelemetry.get(), options);
  }

  private void closeWithTheProcess() {
    Thread hook = new Thread(this::close, "inferspan-shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
    shutdownHook = hook;
  }

  /** Traces with an OpenTelemetry that the caller owns, and closes. */
  public static Telemetry using(OpenTelemetry openTelemetry) {
    return using(openTelemetry, TelemetryOptions.defaults());
  }

  /** Traces with an OpenTelemetry that the caller owns, and closes. */
  public static Telemetry using(OpenTelemetry openTelemetry, TelemetryOptions options) {
    return new Telemetry(openTelemetry, null, options, Policies.of(options));
  }

  /** Puts the privacy guard before an exporter of an SDK that is not ours. */
  public static SpanExporter guard(SpanExporter exporter) {
    return guard(exporter, TelemetryOptions.defaults());
  }

  /** Puts the privacy guard before an exporter of an SDK that is not ours. */
  public static SpanExporter guard(SpanExporter exporter, TelemetryOptions options) {
    return PrivacyGuard.before(exporter, Policies.of(options).scrubber());
  }

  private static Telemetry ownSdk(TelemetryOptions options, String callerVersion) {
    Policies policies = Policies.of(options);
    String version = options.serviceVersion();
    Service service = new Service(options.serviceName(), version == null ? callerVersion : version);
    InstalledSdk sdk =
        new SdkSetup(new Settings(options.settings()), policies.scrubber(), Telemetry::warn)
            .build(service, options.registersGlobally());
    globalWasOurs |= options.registersGlobally();
    return new Telemetry(sdk.sdk(), sdk, options, policies);
  }

  /** A span of the catalogue, about to start under {@code parent}. */
  public PendingSpan span(SpanType type, Context parent) {
    return spans.span(type, "", parent);
  }

  /** A span of the catalogue, about to start under {@code parent}. */
  public PendingSpan span(SpanType type, OperationSpan parent) {
    return spans.span(type, "", parent.context());
  }

  /** A span whose name ends with a {@code detail}, as {@link SpanType#parameter()} says. */
  public PendingSpan span(SpanType type, String detail, OperationSpan parent) {
    return spans.span(type, detail, parent.context());
  }

  /** A span whose name ends with a {@code detail}, as {@link SpanType#parameter()} says. */
  public PendingSpan span(SpanType type, String detail, Context parent) {
    return spans.span(type, detail, parent);
  }

  /** A tracer for spans that are in no catalogue, by default of {@link #DEFAULT_SCOPE}. */
  public Tracer tracer(String scope) {
    return spans.tracer(scope);
  }

  /**
   * The context that a request brings with it; the root where it brings none that is well-formed.
   */
  public <C> Context extract(@Nullable C carrier, TextMapGetter<C> getter) {
    try {
      return propagation.extract(carrier, getter);
    } catch (RuntimeException e) {
      SpanFactory.logQuietly("Headers could not be read", e);
      return Context.root();
    }
  }

  /** Writes the context of {@code span} into the headers of a call. */
  public <C> void inject(OperationSpan span, @Nullable C carrier, TextMapSetter<C> setter) {
    try {
      propagation.inject(span, carrier, setter);
    } catch (RuntimeException e) {
      SpanFactory.logQuietly("Headers could not be written", e);
    }
  }

  /** Writes {@code context} into the headers of a call. */
  public <C> void inject(Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    try {
      propagation.inject(context, carrier, setter);
    } catch (RuntimeException e) {
      SpanFactory.logQuietly("Headers could not be written", e);
    }
  }

  /** Which generation of names spans get; the shape of a tree may follow it. */
  public SpanNaming spanNaming() {
    return spanNaming;
  }

  /** The OpenTelemetry behind it, for other instrumentation to join. */
  public OpenTelemetry openTelemetry() {
    return openTelemetry;
  }

  /** How many spans there were and what became of them; all zero where the SDK is not ours. */
  public SpanCounts spanCounts() {
    return accounting.counts();
  }

  /** Registers meters of the telemetry itself, and of what has joined it. */
  public void bindTo(MeterRegistry registry) {
    new TelemetryMeters(accounting, attributes).bindTo(registry);
    extensions.bindTo(registry);
  }

  /** Waits until what has ended so far is sent, but no longer than {@code bound}. */
  public boolean flush(Duration bound) {
    if (ownSdk != null) {
      return ownSdk.flush(bound);
    }
    return !(openTelemetry instanceof OpenTelemetrySdk sdk)
        || sdk.getSdkTracerProvider()
            .forceFlush()
            .join(bound.toNanos(), TimeUnit.NANOSECONDS)
            .isSuccess();
  }

  /**
   * Sends what it can within the {@linkplain TelemetryOptions.Builder#closeTimeout bound} and
   * stops. Calling it again does nothing; an OpenTelemetry that is not ours stays open.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    extensions.close();
    if (ownSdk != null) {
      spans.stop();
      ownSdk.close(options.closeTimeout());
    }
    forget(this);
    forgetHook();
  }

  private void forgetHook() {
    Thread hook = shutdownHook;
    if (hook != null && !hook.equals(Thread.currentThread())) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The process is ending, and the hook with it.
      }
    }
  }

  private static synchronized void forget(Telemetry telemetry) {
    if (installed == telemetry) {
      installed = null;
    }
  }

  private static String callerVersion() {
    Class<?> caller =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(
                frames ->
                    frames
                        .<Class<?>>map(StackWalker.StackFrame::getDeclaringClass)
                        .filter(type -> type != Telemetry.class)
                        .findFirst()
                        .orElse(Telemetry.class));
    String version = caller.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  private static void warn(String sentence) {
    LOGGER.log(Level.WARNING, sentence);
  }
}
