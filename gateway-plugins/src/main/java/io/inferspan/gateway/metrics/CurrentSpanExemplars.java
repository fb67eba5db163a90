package io.inferspan.gateway.metrics;

import io.opentelemetry.api.trace.Span;
import io.prometheus.metrics.tracer.common.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * Supplies OpenTelemetry's current span to a Prometheus registry for exemplars.
 *
 * <p>Pass it to {@code new PrometheusMeterRegistry(config, prometheus, clock, exemplars)}. Spring
 * Boot does not need it, because it supplies the span itself.
 */
public final class CurrentSpanExemplars implements SpanContext {

  /** Creates a supplier of the current span. */
  public CurrentSpanExemplars() {}

  private static io.opentelemetry.api.trace.SpanContext current() {
    return Span.current().getSpanContext();
  }

  @Override
  public @Nullable String getCurrentTraceId() {
    return current().isValid() ? current().getTraceId() : null;
  }

  @Override
  public @Nullable String getCurrentSpanId() {
    return current().isValid() ? current().getSpanId() : null;
  }

  @Override
  public boolean isCurrentSpanSampled() {
    return current().isSampled();
  }

  @Override
  public void markCurrentSpanAsExemplar() {
    // Nothing to do: exported spans have no attribute for this.
  }
}
