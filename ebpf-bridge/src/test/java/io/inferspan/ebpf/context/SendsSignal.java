package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;

/** Sends a signal as a thread does when a span becomes current on it. */
public final class SendsSignal {

  private SendsSignal() {}

  /** Sends a signal for a span with this id. */
  public static void send(ContextSignal signal, long span) {
    SpanIds ids = new SpanIds();
    ids.read(
        SpanContext.create(
            TestContexts.TRACE,
            "%016x".formatted(span),
            TraceFlags.getSampled(),
            TraceState.getDefault()));
    signal.send(ids);
  }
}
