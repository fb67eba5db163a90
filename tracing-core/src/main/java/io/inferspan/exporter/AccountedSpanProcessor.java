package io.inferspan.exporter;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;

/**
 * Drops and counts spans while the queue of the SDK's batch processor is full, because the batch
 * processor does not expose the number of spans that it drops.
 */
public record AccountedSpanProcessor(SpanProcessor delegate, ExportAccounting accounting)
    implements SpanProcessor {
  @Override
  public void onStart(Context parent, ReadWriteSpan span) {
    if (span.getSpanContext().isSampled()) {
      accounting.started();
    }
    delegate.onStart(parent, span);
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (span.getSpanContext().isSampled() && accounting.admit()) {
      delegate.onEnd(span);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  @Override
  public CompletableResultCode shutdown() {
    return delegate.shutdown();
  }

  @Override
  public CompletableResultCode forceFlush() {
    return delegate.forceFlush();
  }
}
