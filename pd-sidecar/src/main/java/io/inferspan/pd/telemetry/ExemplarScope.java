package io.inferspan.pd.telemetry;

import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * Provides the span of the current observation to the Prometheus registry.
 *
 * <p>The registry reads "the current span", but the sidecar passes spans as arguments. So each
 * thread has one slot, allocated once, which contains the span during the recording call.
 */
final class ExemplarScope implements io.prometheus.metrics.tracer.common.SpanContext {

  private final ThreadLocal<Slot> slots = ThreadLocal.withInitial(Slot::new);

  private static final class Slot {
    private @Nullable SpanContext span;
  }

  /** Records {@code value} with {@code span} as the exemplar, if it is sampled. */
  void record(SpanContext span, Observation observation, long value) {
    if (!span.isSampled()) {
      observation.record(value);
      return;
    }
    Slot slot = slots.get();
    slot.span = span;
    try {
      observation.record(value);
    } finally {
      slot.span = null;
    }
  }

  /** Records a number. Store instances: creating one per call would allocate. */
  @FunctionalInterface
  interface Observation {
    void record(long value);
  }

  @Override
  public @Nullable String getCurrentTraceId() {
    SpanContext span = slots.get().span;
    return span == null ? null : span.getTraceId();
  }

  @Override
  public @Nullable String getCurrentSpanId() {
    SpanContext span = slots.get().span;
    return span == null ? null : span.getSpanId();
  }

  @Override
  public boolean isCurrentSpanSampled() {
    return slots.get().span != null;
  }

  @Override
  public void markCurrentSpanAsExemplar() {
    // Not supported: the catalogue of spans has no attribute for this mark.
  }
}
