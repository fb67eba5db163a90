package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.export.SpanCounts;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.metrics.TelemetryMeters;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.setup.InstalledSdk;
import io.inferspan.setup.SdkSetup;
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
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of Inferspan: starts spans and propagates their context.
 *
 * <ol>
 *   <li>{@link #initTracing()} once, at startup;
 *   <li>{@link #extract} the caller's context from the headers of each request;
 *   <li>{@link #span} … {@link PendingSpan#start()} around each operation, under that context;
 *   <li>{@link #inject} the span's context into the headers of each call to another service;
 *   <li>{@link #close()} once, at shutdown.
 * </ol>
 *
 * <p>After {@code initTracing} has returned, no method throws, blocks or fails a request. Only
 * {@link #flush} and {@link #close()} wait for the network, within their timeouts; {@code close}
 * also waits for extensions.
 */
public final class Telemetry implements AutoCloseable {

  /** The instrumentation scope of spans that belong to no component of the catalogue. */
  public static final String DEFAULT_SCOPE = "llm-d-router";

  private static final Logger LOGGER = System.getLogger("io.inferspan");

  private static final String OLDEST_OPEN_TELEMETRY = "1.59";

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
    this.spanNaming = policies.naming();
    this.propagation = new Propagation(openTelemetry, policies.trusted());
    boolean enabled = (ownSdk == null || !ownSdk.disabled()) && !isNoop(openTelemetry);
    this.spans =
        new SpanFactory(
            policies,
            openTelemetry,
            ownSdk == null ? null : ownSdk.pipeline(),
            enabled,
            accounting);
  }

  /** Starts tracing, configured by the {@code OTEL_*} environment. */
  public static Telemetry initTracing() {
    return initTracing(TelemetryOptions.defaults(), callerVersion());
  }

  /** Starts tracing for a service with this name, configured by the {@code OTEL_*} environment. */
  public static Telemetry initTracing(String serviceName) {
    return initTracing(
        TelemetryOptions.builder().serviceName(serviceName).build(), callerVersion());
  }

  /**
   * Starts tracing according to the options and the {@code OTEL_*} environment.
   *
   * <p>An OpenTelemetry instance that the process already has, from an agent or a framework, is
   * used unchanged. A second call returns the first instance.
   */
  public static Telemetry initTracing(TelemetryOptions options) {
    return initTracing(options, callerVersion());
  }

  private static synchronized Telemetry initTracing(
      TelemetryOptions options, String callerVersion) {
    Telemetry existing = installed;
    if (existing != null) {
      LOGGER.log(
          Level.WARNING,
          "Tracing is already initialised; initTracing() returns the first instance and ignores"
              + " the new options");
      return existing;
    }
    Settings settings = new Settings(options.settings);
    Extensions extensions = Extensions.find(settings);
    Telemetry telemetry = started(options, callerVersion);
    installed = telemetry;
    telemetry.extensions = extensions;
    extensions.join(telemetry, settings);
    if (options.closesOnShutdown) {
      telemetry.addShutdownHook();
    }
    return telemetry;
  }

  private static Telemetry started(TelemetryOptions options, String callerVersion) {
    try {
      if (!GlobalOpenTelemetry.isSet()) {
        return ownSdk(options, callerVersion, options.registersGlobally);
      }
      if (!isNoop(GlobalOpenTelemetry.get())) {
        return adopted(options);
      }
      warn(
          "GlobalOpenTelemetry is a no-op, because something called GlobalOpenTelemetry.get()"
              + " before initTracing(); Inferspan traces nevertheless, but other instrumentation"
              + " that uses the global instance does not. Call initTracing() first");
      return ownSdk(options, callerVersion, false);
    } catch (LinkageError e) {
      throw new IllegalStateException(
          "Inferspan needs OpenTelemetry "
              + OLDEST_OPEN_TELEMETRY
              + " or newer, but found "
              + OpenTelemetry.class.getPackage().getImplementationVersion()
              + " without "
              + e.getMessage()
              + "; raise the version of opentelemetry-bom (in Spring Boot: opentelemetry.version)",
          e);
    }
  }

  private static boolean isNoop(OpenTelemetry openTelemetry) {
    return TracerProvider.noop().equals(openTelemetry.getTracerProvider());
  }

  private static Telemetry adopted(TelemetryOptions options) {
    if (globalWasOurs) {
      warn(
          "GlobalOpenTelemetry cannot be replaced, and belongs to a Telemetry that is closed; this"
              + " process records no more spans");
    } else {
      LOGGER.log(
          Level.INFO,
          "Using the OpenTelemetry instance of this process; its exporters have no privacy guard"
              + " unless they are wrapped by Telemetry.guard");
    }
    return using(GlobalOpenTelemetry.get(), options);
  }

  private void addShutdownHook() {
    Thread hook = new Thread(this::close, "inferspan-shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
    shutdownHook = hook;
  }

  /** Traces with an OpenTelemetry instance that the caller owns and closes. */
  public static Telemetry using(OpenTelemetry openTelemetry) {
    return using(openTelemetry, TelemetryOptions.defaults());
  }

  /** Traces with an OpenTelemetry instance that the caller owns and closes. */
  public static Telemetry using(OpenTelemetry openTelemetry, TelemetryOptions options) {
    return new Telemetry(openTelemetry, null, options, Policies.of(options));
  }

  /**
   * Wraps an exporter of the application's own SDK with the privacy guard, which removes all data
   * that may contain request content and exports only allowed attributes.
   */
  public static SpanExporter guard(SpanExporter exporter) {
    return guard(exporter, TelemetryOptions.defaults());
  }

  /** Wraps an exporter with the privacy guard, configured by {@code options}. */
  public static SpanExporter guard(SpanExporter exporter, TelemetryOptions options) {
    return Policies.of(options).guard(exporter);
  }

  private static Telemetry ownSdk(TelemetryOptions options, String callerVersion, boolean global) {
    Policies policies = Policies.of(options);
    String version = options.serviceVersion;
    InstalledSdk sdk =
        new SdkSetup(new Settings(options.settings), policies::guard, Telemetry::warn)
            .build(options.serviceName, version == null ? callerVersion : version, global);
    globalWasOurs |= global;
    LOGGER.log(Level.INFO, sdk.summary());
    return new Telemetry(sdk.sdk(), sdk, options, policies);
  }

  /**
   * Prepares a span of the {@linkplain io.inferspan.catalog.SpanCatalog catalogue} as a child of
   * {@code parent}.
   */
  public PendingSpan span(SpanType type, Context parent) {
    return spans.span(type, "", parent);
  }

  /** Prepares a span of the catalogue as a child of {@code parent}. */
  public PendingSpan span(SpanType type, OperationSpan parent) {
    return spans.span(type, "", parent.context());
  }

  /** Prepares a span whose name ends with {@code detail}; see {@link SpanType#parameter()}. */
  public PendingSpan span(SpanType type, String detail, OperationSpan parent) {
    return spans.span(type, detail, parent.context());
  }

  /** Prepares a span whose name ends with {@code detail}; see {@link SpanType#parameter()}. */
  public PendingSpan span(SpanType type, String detail, Context parent) {
    return spans.span(type, detail, parent);
  }

  /** Returns a tracer for spans that are not in the catalogue. */
  public Tracer tracer(String scope) {
    return spans.tracer(scope);
  }

  /**
   * Returns the parent context for a request's span: the caller's, or the root if the headers
   * contain no valid one. If the current span belongs to the caller's trace, as with the Java agent
   * or Spring, it is the current context.
   *
   * <p>If {@code INFERSPAN_TRUSTED_CALLERS} lists networks, no caller is trusted here; pass the
   * address of the connection with {@link #extract(Object, TextMapGetter, Function)}.
   */
  public <C> Context extract(@Nullable C carrier, TextMapGetter<C> getter) {
    return extract(carrier, getter, unknown -> null);
  }

  /**
   * Returns the parent context for a request's span, like {@link #extract(Object, TextMapGetter)}.
   * A caller that is not in {@code INFERSPAN_TRUSTED_CALLERS} gets a new trace, which links to the
   * caller's span and is sampled like any new trace.
   *
   * @param peer returns the address of the client's connection, or null if it is unknown; called
   *     only if some callers are not trusted
   */
  public <C> Context extract(
      @Nullable C carrier,
      TextMapGetter<C> getter,
      Function<? super C, @Nullable InetAddress> peer) {
    try {
      return propagation.extract(carrier, getter, peer);
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

  /** Returns the naming scheme of spans, which may also affect the structure of a trace. */
  public SpanNaming spanNaming() {
    return spanNaming;
  }

  /** Returns the OpenTelemetry instance in use, for other instrumentation. */
  public OpenTelemetry openTelemetry() {
    return openTelemetry;
  }

  /**
   * Returns the counts of spans by outcome. With an OpenTelemetry instance that the application
   * owns, only unsampled spans are counted.
   */
  public SpanCounts spanCounts() {
    return accounting.counts();
  }

  /** Registers the meters of this instance and of its extensions. */
  public void bindTo(MeterRegistry registry) {
    new TelemetryMeters(accounting, attributes, spans.failureTexts()).bindTo(registry);
    extensions.bindTo(registry);
  }

  /** Exports all ended spans, waiting at most {@code bound}; returns whether that succeeded. */
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
   * Closes the extensions, each within its own timeout if it has one, then exports as many spans as
   * possible within the {@linkplain TelemetryOptions.Builder#closeTimeout timeout} and shuts down.
   * Idempotent. It does not close an OpenTelemetry instance that the application owns.
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
      ownSdk.close(options.closeTimeout);
    }
    forget(this);
    removeShutdownHook();
  }

  private void removeShutdownHook() {
    Thread hook = shutdownHook;
    if (hook != null && !hook.equals(Thread.currentThread())) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is shutting down, so the hook cannot be removed.
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
