package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/** A span context and its ids as numbers, so that the same context is not parsed twice in a row. */
final class SpanIds {

  private final HexIds hex = new HexIds();
  private @Nullable SpanContext context;
  private long traceIdHigh;
  private long traceIdLow;
  private long spanId;

  @SuppressWarnings("ReferenceEquality") // another object of the same ids is parsed, which is right
  boolean isOf(SpanContext other) {
    return context == other;
  }

  void read(SpanContext fresh) {
    context = null;
    hex.read(fresh.getTraceId(), fresh.getSpanId());
    traceIdHigh = hex.traceIdHigh();
    traceIdLow = hex.traceIdLow();
    spanId = hex.spanId();
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
}
