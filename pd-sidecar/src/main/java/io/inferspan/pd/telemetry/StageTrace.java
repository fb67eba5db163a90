package io.inferspan.pd.telemetry;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.PdAttributes;
import io.netty.handler.codec.http.HttpHeaders;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/** The trace of one stage of a request. */
public final class StageTrace {
  private final PdTracing tracing;
  private final OperationSpan span;
  private final OperationSpan parentOfCalls;
  private final long startedNanos = System.nanoTime();
  private long endedNanos;

  StageTrace(PdTracing tracing, OperationSpan span, OperationSpan parentOfCalls) {
    this.tracing = tracing;
    this.span = span;
    this.parentOfCalls = parentOfCalls;
  }

  public <T> StageTrace set(Attribute<T> attribute, @Nullable T value) {
    span.set(attribute, value);
    return this;
  }

  /** Begins a call to an engine, and writes the stage's trace context into its headers. */
  public CallTrace call(String method, String host, int port, HttpHeaders headers) {
    CallTrace call =
        CallTrace.under(
            tracing, tracing.proposalShape() ? span : parentOfCalls, method, host, port);
    call.inject(headers);
    return call;
  }

  public void fail(String type, String description) {
    span.fail(type, description);
  }

  /**
   * Ends a prefill stage.
   *
   * @param status the response's status, or 0 if the response was not awaited
   */
  public void endPrefill(int status) {
    if (status > 0 && !ended()) {
      span.set(PdAttributes.PREFILL_STATUS_CODE, status);
    }
    end(PdAttributes.PREFILL_STAGE_MS);
    span.close();
  }

  /**
   * Ends a decode stage. Its span is closed later, with the request, which adds timings to the
   * span.
   */
  public void endDecode() {
    end(PdAttributes.DECODE_STAGE_MS);
  }

  public void endChunks() {
    end(PdAttributes.CHUNKED_MS);
    span.close();
  }

  private void end(Attribute<Double> duration) {
    if (!ended()) {
      endedNanos = System.nanoTime();
      span.setMillis(duration, durationNanos());
    }
  }

  /** Ends a decode stage and closes its span: with the request, or when its response is dropped. */
  public void close() {
    endDecode();
    span.close();
  }

  /** Returns its duration so far. */
  long durationNanos() {
    return (ended() ? endedNanos : System.nanoTime()) - startedNanos;
  }

  /** Returns the stage's span context, for exemplars. */
  public SpanContext spanContext() {
    return Span.fromContext(span.context()).getSpanContext();
  }

  OperationSpan span() {
    return span;
  }

  boolean ended() {
    return endedNanos != 0;
  }

  long startedNanos() {
    return startedNanos;
  }

  long endedNanos() {
    return ended() ? endedNanos : System.nanoTime();
  }
}
