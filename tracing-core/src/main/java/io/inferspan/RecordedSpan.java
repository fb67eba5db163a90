package io.inferspan;

import io.inferspan.privacy.StackTraceText;
import io.inferspan.propagation.TraceHeaders;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiConvention;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A span that is recorded.
 *
 * <p>It wraps a span builder until it starts, and then the span; both belong to Inferspan's own
 * recording or to the application's SDK. Its context is created only when a child or a header needs
 * it.
 */
final class RecordedSpan extends OperationSpan implements PendingSpan {

  private static final String UNKNOWN = "unknown";
  private static final String EXCEPTION = "exception";
  private static final AttributeKey<String> EXCEPTION_TYPE =
      AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> EXCEPTION_STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private final SpanFactory factory;
  private @Nullable SpanBuilder builder;
  private Span span = Span.getInvalid();
  // The parent's context until this span's own is needed. Two threads may each create it.
  private Context context;
  private @Nullable String traceparent;

  RecordedSpan(SpanFactory factory, SpanBuilder builder, Context parent) {
    this.factory = factory;
    this.builder = builder;
    this.context = parent;
  }

  @Override
  public RecordedSpan startingAt(long epochNanos) {
    if (builder != null) {
      builder.setStartTimestamp(epochNanos, TimeUnit.NANOSECONDS);
    }
    return this;
  }

  @Override
  public RecordedSpan linkedTo(SpanContext other, Attributes attributes) {
    if (builder != null) {
      builder.addLink(other, attributes);
    }
    return this;
  }

  @Override
  public OperationSpan start() {
    SpanBuilder pending = builder;
    if (pending == null) {
      return this;
    }
    builder = null;
    try {
      span = pending.startSpan();
    } catch (RuntimeException e) {
      return factory.unstarted(e, context);
    }
    return span.isRecording() ? this : factory.unrecorded(pending, span, context);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // identity is intended
  public Context context() {
    Context own = context;
    if (Span.fromContext(own) != span) {
      own = own.with(span);
      context = own;
    }
    return own;
  }

  @Override
  public boolean recording() {
    return span.isRecording();
  }

  @Override
  public boolean mayRecord() {
    return builder != null || span.isRecording();
  }

  @Override
  public <T> RecordedSpan set(Attribute<T> attribute, @Nullable T value) {
    if (value == null || attribute.omits(value)) {
      return this;
    }
    AttributeKey<T> latest = attribute.latestKey();
    if (latest == null) {
      put(attribute.key(), value);
    } else {
      putRenamed(attribute.key(), latest, value);
    }
    return this;
  }

  private <T> void putRenamed(AttributeKey<T> legacy, AttributeKey<T> latest, T value) {
    GenAiConvention convention = factory.policies().convention();
    if (convention.writesLegacy()) {
      put(legacy, value);
    }
    if (convention.writesLatest()) {
      put(latest, value);
    }
  }

  private <T> void put(AttributeKey<T> key, T value) {
    SpanBuilder pending = builder;
    if (pending != null) {
      pending.setAttribute(key, value);
    } else {
      span.setAttribute(key, value);
    }
  }

  @Override
  public RecordedSpan set(Attribute<Long> attribute, long value) {
    return set(attribute, Long.valueOf(value));
  }

  @Override
  public RecordedSpan set(Attribute<Double> attribute, double value) {
    return set(attribute, Double.valueOf(value));
  }

  @Override
  public RecordedSpan set(Attribute<Boolean> attribute, boolean value) {
    return set(attribute, Boolean.valueOf(value));
  }

  @Override
  public RecordedSpan fail(@Nullable Throwable cause) {
    if (cause == null) {
      return fail(UNKNOWN, UNKNOWN);
    }
    String type = cause.getClass().getName();
    if (factory.policies().exceptionMessages()) {
      return failWithMessage(cause, type);
    }
    if (span.isRecording()) {
      span.addEvent(
          EXCEPTION,
          Attributes.of(EXCEPTION_TYPE, type, EXCEPTION_STACK_TRACE, StackTraceText.of(cause)));
    }
    return fail(type, type);
  }

  private RecordedSpan failWithMessage(Throwable cause, String type) {
    try {
      span.recordException(cause);
      return failed(type, cause.toString());
    } catch (RuntimeException e) {
      return fail(type, type);
    }
  }

  @Override
  public RecordedSpan fail(String type, String description) {
    factory.failureTexts().remember(description);
    return failed(type, description);
  }

  /**
   * Sets the error type and the status. Does not register the description for export, because it
   * may be an exception's message.
   */
  private RecordedSpan failed(String type, String description) {
    set(CommonAttributes.ERROR_TYPE, type);
    span.setStatus(StatusCode.ERROR, description);
    return this;
  }

  @Override
  public void close() {
    try {
      span.end();
    } catch (RuntimeException e) {
      SpanFactory.logQuietly("A span processor failed", e);
    }
  }

  @Override
  public void closeAt(long epochNanos) {
    try {
      span.end(epochNanos, TimeUnit.NANOSECONDS);
    } catch (RuntimeException e) {
      SpanFactory.logQuietly("A span processor failed", e);
    }
  }

  @Override
  @Nullable String traceparent() {
    String header = traceparent;
    if (header == null) {
      header = TraceHeaders.traceparent(span.getSpanContext());
      traceparent = header;
    }
    return header;
  }
}
