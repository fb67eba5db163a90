package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;

/** Rings as a thread does on which a span becomes current. */
public final class SendsSignal {

  private SendsSignal() {}

  /** For a span of this id. */
  public static void send(ContextSignal signal, long span) {
    SpanIds ids = new SpanIds();
    ids.read(
        SpanContext.create(
            Served.TRACE,
            "%016x".formatted(span),
            TraceFlags.getSampled(),
            TraceState.getDefault()));
    signal.send(ids);
  }
}
