package io.inferspan.propagation;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import org.jspecify.annotations.Nullable;

/**
 * The span context of a remote parent, stored as the received header.
 *
 * <p>Most requests are unsampled and only forward the header, so ids are extracted on demand.
 */
final class HeaderSpanContext implements SpanContext {

  private final String header;
  private final TraceState traceState;
  private final boolean sendable;
  private final byte flags;
  // Computed on demand; two threads may compute the same value.
  private @Nullable String traceId;
  private @Nullable String spanId;

  HeaderSpanContext(String header, boolean sendable, byte flags, TraceState traceState) {
    this.header = header;
    this.sendable = sendable;
    this.flags = flags;
    this.traceState = traceState;
  }

  /** Returns whether {@link #header()} may be sent unchanged. */
  boolean sendable() {
    return sendable;
  }

  String header() {
    return header;
  }

  @Override
  public String getTraceId() {
    String id = traceId;
    if (id == null) {
      id = header.substring(Traceparent.TRACE_ID, Traceparent.SPAN_ID - 1);
      traceId = id;
    }
    return id;
  }

  @Override
  public String getSpanId() {
    String id = spanId;
    if (id == null) {
      id = header.substring(Traceparent.SPAN_ID, Traceparent.FLAGS - 1);
      spanId = id;
    }
    return id;
  }

  @Override
  public TraceFlags getTraceFlags() {
    return TraceFlags.fromByte(flags);
  }

  @Override
  public TraceState getTraceState() {
    return traceState;
  }

  @Override
  public boolean isValid() {
    return true;
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof HeaderSpanContext that
        && flags == that.flags
        && getTraceId().equals(that.getTraceId())
        && getSpanId().equals(that.getSpanId())
        && traceState.equals(that.traceState);
  }

  @Override
  public int hashCode() {
    return 31 * getTraceId().hashCode() + getSpanId().hashCode();
  }

  @Override
  public String toString() {
    return header;
  }
}
