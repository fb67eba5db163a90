package io.inferspan;

import io.inferspan.propagation.TraceHeaders;
import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A span that only propagates a trace.
 *
 * <p>One object serves as the handle, as the result of {@code Span.current()}, and as all of its
 * descendants, pending or started, so that unrecorded child spans allocate nothing.
 */
final class UnrecordedSpan extends OperationSpan implements PendingSpan, Span {

  private static final UnrecordedSpan ROOT =
      new UnrecordedSpan(SpanContext.getInvalid(), Context.root());

  private final SpanContext spanContext;
  private final boolean unsampled;
  private final boolean refused;
  private final Context context;

  private UnrecordedSpan(SpanContext spanContext, Context context) {
    this.spanContext = spanContext;
    this.unsampled = spanContext.isValid() && !spanContext.isSampled();
    this.refused = false;
    this.context = context;
  }

  private UnrecordedSpan(Context base, SpanContext spanContext, boolean refused) {
    this.spanContext = spanContext;
    this.unsampled = spanContext.isValid() && !spanContext.isSampled();
    this.refused = refused;
    this.context = base.with(this);
  }

  /**
   * Returns a span whose context is {@code base} with {@code spanContext}, the context of a remote
   * parent or of an unsampled root.
   */
  static UnrecordedSpan entering(Context base, SpanContext spanContext) {
    return new UnrecordedSpan(base, spanContext, false);
  }

  /** Returns a span that is not recorded because the export queue is nearly full. */
  static UnrecordedSpan refused(Context base, SpanContext spanContext) {
    return new UnrecordedSpan(base, spanContext, true);
  }

  /** Returns a handle for the unsampled {@code span}, which the application's SDK created. */
  static UnrecordedSpan of(Span span, Context parent) {
    return new UnrecordedSpan(span.getSpanContext(), parent.with(span));
  }

  /**
   * Returns an unrecorded child of {@code parent}. If the parent's span is unrecorded, returns that
   * span itself.
   */
  @SuppressWarnings("ReferenceEquality") // Context does not define equals
  static UnrecordedSpan within(Context parent, Span current) {
    if (current instanceof UnrecordedSpan known && known.context == parent) {
      return known;
    }
    if (parent == Context.root()) {
      return ROOT;
    }
    return new UnrecordedSpan(current.getSpanContext(), parent);
  }

  /** Returns whether {@code span} belongs to an unsampled trace. */
  static boolean isUnsampled(Span span) {
    if (span instanceof UnrecordedSpan known) {
      return known.unsampled;
    }
    SpanContext other = span.getSpanContext();
    return other.isValid() && !other.isSampled();
  }

  /** Returns whether {@code span} was not recorded because the export queue was nearly full. */
  static boolean isRefused(Span span) {
    return span instanceof UnrecordedSpan known && known.refused;
  }

  @Override
  public Context context() {
    return context;
  }

  @Override
  public boolean recording() {
    return false;
  }

  @Override
  public boolean mayRecord() {
    return false;
  }

  @Override
  public <T> UnrecordedSpan set(Attribute<T> attribute, @Nullable T value) {
    return this;
  }

  @Override
  public UnrecordedSpan set(Attribute<Long> attribute, long value) {
    return this;
  }

  @Override
  public UnrecordedSpan set(Attribute<Double> attribute, double value) {
    return this;
  }

  @Override
  public UnrecordedSpan set(Attribute<Boolean> attribute, boolean value) {
    return this;
  }

  @Override
  public UnrecordedSpan fail(@Nullable Throwable cause) {
    return this;
  }

  @Override
  public UnrecordedSpan fail(String type, String description) {
    return this;
  }

  @Override
  public UnrecordedSpan startingAt(long epochNanos) {
    return this;
  }

  @Override
  public UnrecordedSpan linkedTo(SpanContext other, Attributes attributes) {
    return this;
  }

  @Override
  public UnrecordedSpan start() {
    return this;
  }

  @Override
  public void close() {}

  @Override
  public void closeAt(long epochNanos) {}

  @Override
  @Nullable String traceparent() {
    return spanContext.isValid() ? TraceHeaders.traceparent(spanContext) : null;
  }

  // The methods of OpenTelemetry's Span

  @Override
  public SpanContext getSpanContext() {
    return spanContext;
  }

  @Override
  public boolean isRecording() {
    return false;
  }

  @Override
  public <T> Span setAttribute(AttributeKey<T> key, @Nullable T value) {
    return this;
  }

  @Override
  public Span addEvent(String name, Attributes attributes) {
    return this;
  }

  @Override
  public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
    return this;
  }

  @Override
  public Span setStatus(StatusCode statusCode, String description) {
    return this;
  }

  @Override
  public Span recordException(Throwable exception, Attributes additionalAttributes) {
    return this;
  }

  @Override
  public Span updateName(String name) {
    return this;
  }

  @Override
  public void end() {}

  @Override
  public void end(long timestamp, TimeUnit unit) {}
}
