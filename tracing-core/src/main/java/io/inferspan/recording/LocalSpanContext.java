package io.inferspan.recording;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import org.jspecify.annotations.Nullable;

/** Who a span is; its ids come from the SDK's generator or a valid parent, so that it is valid. */
final class LocalSpanContext implements SpanContext {

  private final String traceId;
  private final String spanId;
  private final TraceFlags flags;
  private final TraceState state;

  LocalSpanContext(String traceId, String spanId, TraceFlags flags, TraceState state) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.flags = flags;
    this.state = state;
  }

  @Override
  public String getTraceId() {
    return traceId;
  }

  @Override
  public String getSpanId() {
    return spanId;
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
        && spanId.equals(that.spanId)
        && flags.equals(that.flags)
        && state.equals(that.state);
  }

  @Override
  public int hashCode() {
    return 31 * traceId.hashCode() + spanId.hashCode();
  }

  @Override
  public String toString() {
    return traceId + "-" + spanId;
  }
}
