package io.inferspan;

import io.inferspan.propagation.TraceHeaders;
import io.inferspan.setup.TrustedCallers;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.net.InetAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Extracts contexts from headers and injects contexts into headers. If the configured propagators
 * are exactly the SDK's W3C propagators, a faster implementation replaces them.
 */
final class Propagation {

  /** The span of an untrusted caller; the first span of the new trace links to it. */
  static final ContextKey<SpanContext> UNTRUSTED = ContextKey.named("inferspan-untrusted-caller");

  private final TextMapPropagator propagator;
  private final TrustedCallers trusted;
  private final @Nullable TraceHeaders headers;

  /**
   * Creates an instance that propagates as {@code openTelemetry} does.
   *
   * @param trusted the callers whose traces are continued
   */
  Propagation(OpenTelemetry openTelemetry, TrustedCallers trusted) {
    this.trusted = trusted;
    this.propagator = openTelemetry.getPropagators().getTextMapPropagator();
    // An agent's propagator is kept, because it may propagate more than its name says.
    this.headers = openTelemetry instanceof OpenTelemetrySdk ? TraceHeaders.of(propagator) : null;
  }

  /**
   * Returns the caller's context. If the current span belongs to the caller's trace, returns the
   * current context instead, because an agent or a framework has started that span for the same
   * request. For an untrusted caller, returns a context that starts a new trace.
   */
  <C> Context extract(
      @Nullable C carrier,
      TextMapGetter<C> getter,
      Function<? super C, @Nullable InetAddress> peer) {
    Context extracted = read(carrier, getter);
    SpanContext caller = Span.fromContext(extracted).getSpanContext();
    if (!caller.isValid()) {
      return extracted;
    }
    SpanContext current = Span.current().getSpanContext();
    if (current.isValid() && current.getTraceId().equals(caller.getTraceId())) {
      return Context.current();
    }
    if (trusted.all() || trusted.contains(carrier == null ? null : peer.apply(carrier))) {
      return extracted;
    }
    return extracted.with(Span.getInvalid()).with(UNTRUSTED, caller);
  }

  private <C> Context read(@Nullable C carrier, TextMapGetter<C> getter) {
    if (headers == null) {
      return propagator.extract(Context.root(), carrier, getter);
    }
    SpanContext parent = headers.readParent(carrier, getter);
    Context base = headers.readBaggage(Context.root(), carrier, getter);
    return parent == null ? base : UnrecordedSpan.entering(base, parent).context();
  }

  <C> void inject(OperationSpan span, @Nullable C carrier, TextMapSetter<C> setter) {
    Context context = span.context();
    String traceparent = span.traceparent();
    if (headers == null || traceparent == null) {
      inject(context, carrier, setter);
    } else {
      SpanContext spanContext = Span.fromContext(context).getSpanContext();
      headers.write(traceparent, spanContext.getTraceState(), context, carrier, setter);
    }
  }

  <C> void inject(Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    SpanContext spanContext = Span.fromContext(context).getSpanContext();
    if (headers == null) {
      propagator.inject(context, carrier, setter);
    } else if (spanContext.isValid()) {
      headers.write(spanContext, context, carrier, setter);
    } else {
      headers.writeBaggage(context, carrier, setter);
    }
  }
}
