package io.inferspan.ebpf.context;

import io.inferspan.ebpf.wire.Owner;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * The ids of a span context as numbers, together with the context, so that it is not parsed again.
 */
final class SpanIds {

  private final HexIds hex = new HexIds();
  private @Nullable SpanContext context;
  private long traceIdHigh;
  private long traceIdLow;
  private long spanId;
  private long owner;

  @SuppressWarnings("ReferenceEquality") // another object with equal ids is parsed again
  boolean isOf(SpanContext other) {
    return context == other;
  }

  void read(SpanContext fresh) {
    context = null;
    hex.read(fresh.getTraceId(), fresh.getSpanId());
    traceIdHigh = hex.traceIdHigh();
    traceIdLow = hex.traceIdLow();
    spanId = hex.spanId();
    owner = Owner.ofSpan(traceIdHigh, traceIdLow, spanId);
    context = fresh;
  }

  long traceIdHigh() {
    return traceIdHigh;
  }

  long traceIdLow() {
    return traceIdLow;
  }

  long spanId() {
    return spanId;
  }

  /** Returns the owner number of this span in the kernel's events. */
  long owner() {
    return owner;
  }
}
