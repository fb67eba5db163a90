package io.inferspan.pd.soak;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.concurrent.atomic.LongAdder;

/** Counts spans instead of keeping them. */
final class SpanTally implements SpanProcessor {
  private static final String REQUEST = "llm_d.pd_proxy.request";

  private final LongAdder started = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final LongAdder requests = new LongAdder();

  OpenTelemetry openTelemetry() {
    return OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(this).build())
        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
        .build();
  }

  long started() {
    return started.sum();
  }

  long ended() {
    return ended.sum();
  }

  /** Returns the number of request spans that have ended. */
  long requests() {
    return requests.sum();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {
    started.increment();
  }

  @Override
  public void onEnd(ReadableSpan span) {
    ended.increment();
    if (span.getName().equals(REQUEST)) {
      requests.increment();
    }
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }
}
