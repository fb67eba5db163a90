package io.inferspan;

import io.inferspan.propagation.TraceHeaders;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import org.jspecify.annotations.Nullable;

/**
 * Between headers and contexts: by our own reader where the headers are W3C's, else as configured.
 */
final class Propagation {

  private final TextMapPropagator propagator;
  private final @Nullable TraceHeaders headers;

  Propagation(OpenTelemetry openTelemetry) {
    this.propagator = openTelemetry.getPropagators().getTextMapPropagator();
    // What an agent bridges into contexts, only its own propagator can put there.
    this.headers = openTelemetry instanceof OpenTelemetrySdk ? TraceHeaders.of(propagator) : null;
  }

  <C> Context extract(@Nullable C carrier, TextMapGetter<C> getter) {
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
