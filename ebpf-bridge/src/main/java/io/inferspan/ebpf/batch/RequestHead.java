package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.wire.Owner;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;

/**
 * The head of a sampled request, as its API server read it.
 *
 * @param parent the span that the request's {@code traceparent} names
 * @param seenNanos when it was read; {@link Long#MAX_VALUE} if that is unknown
 */
record RequestHead(SpanContext parent, long seenNanos) {

  static RequestHead of(Owner owner) {
    return new RequestHead(
        parent(owner.traceIdHigh(), owner.traceIdLow(), owner.spanId()), owner.beganNanos());
  }

  static SpanContext parent(long traceIdHigh, long traceIdLow, long spanId) {
    return SpanContext.createFromRemoteParent(
        TraceId.fromLongs(traceIdHigh, traceIdLow),
        SpanId.fromLong(spanId),
        TraceFlags.getSampled(),
        TraceState.getDefault());
  }
}
