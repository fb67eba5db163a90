package io.inferspan.kvcache.soak;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.concurrent.atomic.LongAdder;

/** Counts spans and keeps none. */
final class OpenSpans implements SpanProcessor {

  private final LongAdder started = new LongAdder();
  private final LongAdder ended = new LongAdder();

  long started() {
    return started.sum();
  }

  long open() {
    return started.sum() - ended.sum();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {
    started.increment();
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    ended.increment();
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }
}
