package io.inferspan;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * A span that has started, from {@link PendingSpan#start()} to {@link #close()}.
 *
 * <p>Any thread may use and close it. It ends once; later calls are ignored. No method throws. A
 * span that is not recording allocates nothing, and its {@link #context()} still propagates the
 * trace.
 */
public abstract sealed class OperationSpan implements AutoCloseable
    permits RecordedSpan, UnrecordedSpan {

  private static final double NANOS_PER_MILLI = 1e6;

  OperationSpan() {}

  /** Returns the context for child spans and outgoing requests. */
  public abstract Context context();

  /** Returns whether the span is recording; check before computing a costly value. */
  public abstract boolean recording();

  /** Sets an attribute; null is ignored. */
  public abstract <T> OperationSpan set(Attribute<T> attribute, @Nullable T value);

  /** Sets an attribute; the value is boxed only if the span is recording. */
  public abstract OperationSpan set(Attribute<Long> attribute, long value);

  /** Sets an attribute; the value is boxed only if the span is recording. */
  public abstract OperationSpan set(Attribute<Double> attribute, double value);

  /** Sets an attribute; the value is boxed only if the span is recording. */
  public abstract OperationSpan set(Attribute<Boolean> attribute, boolean value);

  /** Sets a duration, which is recorded in fractional milliseconds. */
  public final OperationSpan setMillis(Attribute<Double> attribute, long nanos) {
    return set(attribute, nanos / NANOS_PER_MILLI);
  }

  /**
   * Marks the operation as failed by {@code cause}. The exception's message is recorded only with
   * {@code INFERSPAN_EXCEPTION_MESSAGES=true}.
   */
  public abstract OperationSpan fail(@Nullable Throwable cause);

  /**
   * Marks the operation as failed.
   *
   * @param type the type of the error, a low-cardinality value such as a class name or a status
   *     code
   * @param description one sentence without request content
   */
  public abstract OperationSpan fail(String type, String description);

  /** Ends the span. */
  @Override
  public abstract void close();

  /** Ends the span with an explicit end time, in nanoseconds since the epoch. */
  public abstract void closeAt(long epochNanos);

  /** Returns the {@code traceparent} of this span, or null if its span context is invalid. */
  abstract @Nullable String traceparent();
}
