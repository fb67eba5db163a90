package io.inferspan.pd.telemetry;

import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * Provides the span of the current observation to the Prometheus registry.
 *
 * <p>The registry reads "the current span", but the sidecar passes spans as arguments. So the span
 * is in a thread-local variable during the recording call.
 */
final class ExemplarScope implements io.prometheus.metrics.tracer.common.SpanContext {

  private static final ThreadLocal<@Nullable SpanContext> CURRENT = new ThreadLocal<>();

  /** Records {@code value} with {@code span} as the exemplar, if it is sampled. */
  void record(SpanContext span, Observation observation, long value) {
    if (!span.isSampled()) {
      observation.record(value);
      return;
    }
    CURRENT.set(span);
    try {
      observation.record(value);
    } finally {
      // Not removed, because the next call would then allocate.
      CURRENT.set(null);
    }
  }

  /** Records a number. Store instances: creating one per call would allocate. */
  @FunctionalInterface
  interface Observation {
    void record(long value);
  }

  @Override
  public @Nullable String getCurrentTraceId() {
    SpanContext span = CURRENT.get();
    return span == null ? null : span.getTraceId();
  }

  @Override
  public @Nullable String getCurrentSpanId() {
    SpanContext span = CURRENT.get();
    return span == null ? null : span.getSpanId();
  }

  @Override
  public boolean isCurrentSpanSampled() {
    return CURRENT.get() != null;
  }

  @Override
  public void markCurrentSpanAsExemplar() {
    // Not supported: the catalogue of spans has no attribute for this mark.
  }
}
