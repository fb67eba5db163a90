package io.inferspan;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * A span about to start.
 *
 * <p>Attributes that are known now belong here: samplers see them, and they cost less than those
 * that are set later.
 */
public sealed interface PendingSpan permits RecordedSpan, UnrecordedSpan {

  /** Returns whether the span may be recorded; check before computing a costly value. */
  boolean mayRecord();

  /** Sets an attribute; null is ignored. */
  <T> PendingSpan set(Attribute<T> attribute, @Nullable T value);

  /** Sets an attribute without boxing where the span will not record. */
  PendingSpan set(Attribute<Long> attribute, long value);

  /** Sets an attribute without boxing where the span will not record. */
  PendingSpan set(Attribute<Double> attribute, double value);

  /** Sets an attribute without boxing where the span will not record. */
  PendingSpan set(Attribute<Boolean> attribute, boolean value);

  /** Sets the start of an operation that is reported later, in nanoseconds since the epoch. */
  PendingSpan startingAt(long epochNanos);

  /** Links to a span of another request or step, with {@code part}: its part in this one. */
  PendingSpan linkedTo(SpanContext other, Attributes part);

  /** Starts the span; to be called once. */
  OperationSpan start();
}
