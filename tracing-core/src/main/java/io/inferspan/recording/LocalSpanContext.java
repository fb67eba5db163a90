package io.inferspan.recording;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import org.jspecify.annotations.Nullable;

/**
 * Who a span is; its ids come from our own generator or a valid parent, so that it is valid.
 *
 * <p>The span's id becomes a text when somebody asks for it, which on the request's way is nobody.
 */
final class LocalSpanContext implements SpanContext {

  private final String traceId;
  private final long spanNumber;
  private final TraceFlags flags;
  private final TraceState state;

  /** As a string keeps its hash: whoever comes first writes what all others would. */
  private @Nullable String spanId;

  LocalSpanContext(String traceId, long spanNumber, TraceFlags flags, TraceState state) {
    this.traceId = traceId;
    this.spanNumber = spanNumber;
    this.flags = flags;
    this.state = state;
  }

  @Override
  public String getTraceId() {
    return traceId;
  }

  @Override
  public String getSpanId() {
    String id = spanId;
    if (id == null) {
      id = SpanId.fromLong(spanNumber);
      spanId = id;
    }
    return id;
  }

  @Override
  public TraceFlags getTraceFlags() {
    return flags;
  }

  @Override
  public TraceState getTraceState() {
    return state;
  }

  @Override
  public boolean isValid() {
    return true;
  }

  @Override
  public boolean isRemote() {
    return false;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LocalSpanContext that
        && traceId.equals(that.traceId)
        && spanNumber == that.spanNumber
        && flags.equals(that.flags)
        && state.equals(that.state);
  }

  @Override
  public int hashCode() {
    return 31 * traceId.hashCode() + Long.hashCode(spanNumber);
  }

  @Override
  public String toString() {
    return traceId + "-" + getSpanId();
  }
}
