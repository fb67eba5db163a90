package io.inferspan;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanType;
import io.inferspan.export.ExportAccounting;
import io.inferspan.privacy.OwnScopes;
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

/** Starts spans: finds out at no cost whether anybody will see them, and if so asks the SDK. */
final class SpanFactory {

  private static final Logger LOGGER = System.getLogger("io.inferspan");

  /** Spans that may carry more mostly carry less. */
  private static final int MOST_USUAL_ATTRIBUTES = 12;

  private static final String NEVER = "AlwaysOffSampler";

  /** How a parent-based sampler describes itself that asks its root for nothing but roots. */
  private static final String PARENT_DECIDES =
      ",remoteParentSampled:AlwaysOnSampler,remoteParentNotSampled:AlwaysOffSampler"
          + ",localParentSampled:AlwaysOnSampler,localParentNotSampled:AlwaysOffSampler}";

  private final SpanPolicy policy;
  private final Source source;
  private final boolean parentDecides;
  private final Tracer[] tracers;
  private volatile boolean stopped;

  /** Prepares a tracer for every span type. */
  SpanFactory(SpanPolicy policy, Source source) {
    this.policy = policy;
    this.source = source;
    this.stopped = !source.enabled();
    this.parentDecides = parentDecides(source.openTelemetry());
    List<SpanType> types = SpanCatalog.all();
    this.tracers = new Tracer[types.size()];
    for (SpanType type : types) {
      tracers[type.index()] = tracer(type.component().scope(policy.naming()));
    }
  }

  /**
   * Whether the child of an unsampled span is never sampled, so that the SDK need not be asked:
   * true of the parent-based samplers that leave the children of unsampled spans unsampled.
   */
  private static boolean parentDecides(OpenTelemetry openTelemetry) {
    if (!(openTelemetry instanceof OpenTelemetrySdk sdk)) {
      return false;
    }
    String sampler = sdk.getSdkTracerProvider().getSampler().getDescription();
    return sampler.equals(NEVER)
        || (sampler.startsWith("ParentBased{") && sampler.endsWith(PARENT_DECIDES));
  }

  /** A tracer of this scope: our own where the SDK is, else that of the OpenTelemetry given. */
  Tracer tracer(String scope) {
    if (!source.enabled()) {
      return TracerProvider.noop().get(scope);
    }
    String version = BuildInfo.current().version();
    InstrumentationScopeInfo ours = source.ownScopes().add(scope, version);
    SpanPipeline pipeline = source.pipeline();
    return pipeline != null
        ? new RecordingTracer(pipeline, ours)
        : source.openTelemetry().tracerBuilder(scope).setInstrumentationVersion(version).build();
  }

  PendingSpan span(SpanType type, @Nullable String detail, Context parent) {
    Span current = Span.fromContext(parent);
    if (stopped) {
      return UnrecordedSpan.within(parent, current);
    }
    if (parentDecides && UnrecordedSpan.isUnsampled(current)) {
      source.accounting().unsampled();
      return UnrecordedSpan.within(parent, current);
    }
    if (UnrecordedSpan.isRefused(current)) {
      source.accounting().refused();
      return UnrecordedSpan.within(parent, current);
    }
    String name = type.name(policy.naming());
    String whole = detail == null || detail.isEmpty() ? name : name + detail;
    return new RecordedSpan(this, builder(type, whole, parent), parent);
  }

  private SpanBuilder builder(SpanType type, String name, Context parent) {
    Tracer tracer = tracers[type.index()];
    SpanKind kind = type.kind(policy.naming());
    if (tracer instanceof RecordingTracer ours) {
      int attributes = Math.min(type.attributes().size(), MOST_USUAL_ATTRIBUTES);
      return ours.spanBuilder(name, kind, parent, attributes);
    }
    return tracer.spanBuilder(name).setParent(parent).setSpanKind(kind);
  }

  /** From now on no span is recorded; contexts still travel. */
  void stop() {
    stopped = true;
  }

  SpanPolicy policy() {
    return policy;
  }

  /** What stands in for a span that a sampler or processor of the user's has kept from starting. */
  UnrecordedSpan unstarted(RuntimeException cause, Context parent) {
    logQuietly("A span could not be started", cause);
    return UnrecordedSpan.within(parent, Span.fromContext(parent));
  }

  static void logQuietly(String what, RuntimeException cause) {
    LOGGER.log(Level.DEBUG, what, cause);
  }

  /**
   * The handle of a span that the sampler left out, or for which there was no room. Where the SDK
   * is ours, our own object enters the context, so that its children cost nothing; an agent would
   * not know it there.
   */
  UnrecordedSpan unrecorded(Span span, Context parent) {
    SpanContext entered = span.getSpanContext();
    if (source.pipeline() != null && entered.isSampled()) {
      source.accounting().refused();
      return UnrecordedSpan.refused(parent, entered);
    }
    source.accounting().unsampled();
    return source.pipeline() != null
        ? UnrecordedSpan.entering(parent, entered)
        : UnrecordedSpan.of(span, parent);
  }

  /**
   * Where spans come from and where they are accounted for.
   *
   * @param openTelemetry makes them, unless there is a pipeline
   * @param pipeline takes those that we record ourselves
   * @param enabled whether there are any
   * @param accounting counts them
   * @param ownScopes remembers which are ours
   */
  record Source(
      OpenTelemetry openTelemetry,
      @Nullable SpanPipeline pipeline,
      boolean enabled,
      ExportAccounting accounting,
      OwnScopes ownScopes) {}
}
