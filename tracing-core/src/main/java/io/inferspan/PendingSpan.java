package io.inferspan;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * A span that has not started.
 *
 * <p>Set attributes here rather than after the start: samplers can use them, and they cost less.
 */
public sealed interface PendingSpan permits RecordedSpan, UnrecordedSpan {

  /** Returns whether the span may be recorded; check before computing a costly value. */
  boolean mayRecord();

  /** Sets an attribute; null is ignored. */
  <T> PendingSpan set(Attribute<T> attribute, @Nullable T value);

  /** Sets an attribute; the value is boxed only if the span may be recorded. */
  PendingSpan set(Attribute<Long> attribute, long value);

  /** Sets an attribute; the value is boxed only if the span may be recorded. */
  PendingSpan set(Attribute<Double> attribute, double value);

  /** Sets an attribute; the value is boxed only if the span may be recorded. */
  PendingSpan set(Attribute<Boolean> attribute, boolean value);

  /** Sets an explicit start time, in nanoseconds since the epoch. */
  PendingSpan startingAt(long epochNanos);

  /** Adds a link with attributes to another span. */
  PendingSpan linkedTo(SpanContext other, Attributes attributes);

  /** Starts the span. Call it once. */
  OperationSpan start();
}
