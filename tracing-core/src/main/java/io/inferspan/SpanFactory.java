package io.inferspan;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanType;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.privacy.FailureTexts;
import io.inferspan.recording.RecordingSpanBuilder;
import io.inferspan.recording.RecordingTracer;
import io.inferspan.recording.SpanPipeline;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Starts spans. It calls the SDK only if the span may be recorded. */
final class SpanFactory {

  private static final Logger LOGGER = System.getLogger("io.inferspan");

  /** The largest initial capacity for attributes; few spans have more. */
  private static final int MAX_INITIAL_ATTRIBUTES = 12;

  private static final String NEVER = "AlwaysOffSampler";

  /** The description of a parent-based sampler that consults its root only for root spans. */
  private static final String PARENT_DECIDES =
      ",remoteParentSampled:AlwaysOnSampler,remoteParentNotSampled:AlwaysOffSampler"
          + ",localParentSampled:AlwaysOnSampler,localParentNotSampled:AlwaysOffSampler}";

  private final Policies policies;
  private final OpenTelemetry openTelemetry;
  private final @Nullable SpanPipeline pipeline;
  private final ExportAccounting accounting;
  private final boolean enabled;
  private final FailureTexts failureTexts = new FailureTexts();
  private final boolean parentDecides;
  private final Tracer[] tracers;
  private volatile boolean stopped;

  /**
   * Prepares a tracer for every span type.
   *
   * @param openTelemetry creates the spans if there is no pipeline
   * @param pipeline receives the spans that Inferspan records itself
   * @param enabled whether spans are recorded
   * @param accounting counts the spans
   */
  SpanFactory(
      Policies policies,
      OpenTelemetry openTelemetry,
      @Nullable SpanPipeline pipeline,
      boolean enabled,
      ExportAccounting accounting) {
    this.policies = policies;
    this.openTelemetry = openTelemetry;
    this.pipeline = pipeline;
    this.enabled = enabled;
    this.accounting = accounting;
    this.stopped = !enabled;
    this.parentDecides = parentDecides(openTelemetry);
    List<SpanType> types = SpanCatalog.all();
    this.tracers = new Tracer[types.size()];
    for (SpanType type : types) {
      tracers[type.index()] = tracer(type.component().scope(policies.naming()));
    }
  }

  /**
   * Returns whether the child of an unsampled span is never sampled, so that the SDK need not be
   * called. This holds for AlwaysOff, and for parent-based samplers with their default delegates,
   * which follow the parent's decision.
   */
  private static boolean parentDecides(OpenTelemetry openTelemetry) {
    if (!(openTelemetry instanceof OpenTelemetrySdk sdk)) {
      return false;
    }
    String sampler = sdk.getSdkTracerProvider().getSampler().getDescription();
    return sampler.equals(NEVER)
        || (sampler.startsWith("ParentBased{") && sampler.endsWith(PARENT_DECIDES));
  }

  /**
   * Returns our own tracer for this scope if there is a pipeline, else that of the given
   * OpenTelemetry.
   */
  Tracer tracer(String scope) {
    if (!enabled) {
      return TracerProvider.noop().get(scope);
    }
    String version = BuildInfo.VERSION;
    InstrumentationScopeInfo ours = policies.ownScopes().add(scope, version);
    return pipeline != null
        ? new RecordingTracer(pipeline, ours)
        : openTelemetry.tracerBuilder(scope).setInstrumentationVersion(version).build();
  }

  PendingSpan span(SpanType type, @Nullable String detail, Context parent) {
    Span current = Span.fromContext(parent);
    if (stopped) {
      return UnrecordedSpan.within(parent, current);
    }
    if (UnrecordedSpan.isRefused(current)) {
      accounting.refused();
      return UnrecordedSpan.within(parent, current);
    }
    if (parentDecides && UnrecordedSpan.isUnsampled(current)) {
      accounting.unsampled();
      return UnrecordedSpan.within(parent, current);
    }
    String name = type.name(policies.naming());
    String whole = detail == null || detail.isEmpty() ? name : name + detail;
    SpanBuilder builder = builder(type, whole, parent);
    if (!current.getSpanContext().isValid()) {
      linkToUntrusted(builder, parent);
    }
    return new RecordedSpan(this, builder, parent);
  }

  private static void linkToUntrusted(SpanBuilder root, Context parent) {
    SpanContext caller = parent.get(Propagation.UNTRUSTED);
    if (caller != null) {
      root.addLink(caller);
    }
  }

  private SpanBuilder builder(SpanType type, String name, Context parent) {
    Tracer tracer = tracers[type.index()];
    SpanKind kind = type.kind(policies.naming());
    if (tracer instanceof RecordingTracer ours) {
      int attributes = Math.min(type.attributes().size(), MAX_INITIAL_ATTRIBUTES);
      return ours.spanBuilder(name, kind, parent, attributes);
    }
    return tracer.spanBuilder(name).setParent(parent).setSpanKind(kind);
  }

  /** Stops recording spans; contexts are still propagated. */
  void stop() {
    stopped = true;
  }

  FailureTexts failureTexts() {
    return failureTexts;
  }

  Policies policies() {
    return policies;
  }

  /** Returns a substitute for a span that a user's sampler or processor failed to start. */
  UnrecordedSpan unstarted(RuntimeException cause, Context parent) {
    logQuietly("A span could not be started", cause);
    return UnrecordedSpan.within(parent, Span.fromContext(parent));
  }

  static void logQuietly(String what, RuntimeException cause) {
    LOGGER.log(Level.DEBUG, what, cause);
  }

  /**
   * Returns the handle of a span that was not sampled, or that is not recorded because the export
   * queue is nearly full. With a pipeline, the context contains Inferspan's span object, so that
   * children allocate nothing. Otherwise it contains the span of the given OpenTelemetry, which
   * would not recognise ours.
   */
  UnrecordedSpan unrecorded(SpanBuilder started, Span span, Context parent) {
    SpanContext entered = span.getSpanContext();
    if (started instanceof RecordingSpanBuilder ours && ours.refused()) {
      return UnrecordedSpan.refused(parent, entered);
    }
    accounting.unsampled();
    return pipeline != null
        ? UnrecordedSpan.entering(parent, entered)
        : UnrecordedSpan.of(span, parent);
  }
}
