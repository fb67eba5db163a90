package io.inferspan;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * One live span, from {@link PendingSpan#start()} to {@link #close()}.
 *
 * <p>It may be handed from thread to thread and closed on any of them; it ends once, and what comes
 * later is ignored. No method throws. A span that does not record costs nothing: it builds no
 * attribute and allocates nothing, and its {@link #context()} still carries the trace.
 */
public abstract sealed class OperationSpan implements AutoCloseable
    permits RecordedSpan, UnrecordedSpan {

  private static final double NANOS_PER_MILLI = 1e6;

  OperationSpan() {}

  /** The context that children and outgoing requests take. */
  public abstract Context context();

  /** Returns whether the span is recording; check before computing a costly value. */
  public abstract boolean recording();

  /** Sets an attribute; null is ignored. */
  public abstract <T> OperationSpan set(Attribute<T> attribute, @Nullable T value);

  /** Sets an attribute without boxing where the span does not record. */
  public abstract OperationSpan set(Attribute<Long> attribute, long value);

  /** Sets an attribute without boxing where the span does not record. */
  public abstract OperationSpan set(Attribute<Double> attribute, double value);

  /** Sets an attribute without boxing where the span does not record. */
  public abstract OperationSpan set(Attribute<Boolean> attribute, boolean value);

  /** Sets a duration, which spans carry as milliseconds with their fraction. */
  public final OperationSpan setMillis(Attribute<Double> attribute, long nanos) {
    return set(attribute, nanos / NANOS_PER_MILLI);
  }

  /** Marks the operation as failed by {@code cause}; its message stays here unless allowed out. */
  public abstract OperationSpan fail(@Nullable Throwable cause);

  /**
   * Marks the operation as failed.
   *
   * @param type what kind of error it is, in few values: a class name, a status code
   * @param description one sentence that holds nothing of the request's content
   */
  public abstract OperationSpan fail(String type, String description);

  /** Ends the span. */
  @Override
  public abstract void close();

  /** Ends the span at a time that is reported later, in nanoseconds since the epoch. */
  public abstract void closeAt(long epochNanos);

  /** The {@code traceparent} of this span, or null where there is no trace to continue. */
  abstract @Nullable String traceparent();
}
