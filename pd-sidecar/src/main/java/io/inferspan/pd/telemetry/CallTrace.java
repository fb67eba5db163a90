package io.inferspan.pd.telemetry;

import io.inferspan.OperationSpan;
import io.inferspan.catalog.PdSpans;
import io.inferspan.semconv.CommonAttributes;
import io.netty.handler.codec.http.HttpHeaders;

/**
 * An HTTP call to an engine. It has a span of its own, except with {@link
 * io.inferspan.catalog.SpanNaming#PROPOSAL}: the span tree of llm-d's tracing proposal has no spans
 * for HTTP calls.
 */
public final class CallTrace {
  private static final int FIRST_ERROR_STATUS = 400;

  private final PdTracing tracing;
  private final OperationSpan span;
  private final boolean own;

  private CallTrace(PdTracing tracing, OperationSpan span, boolean own) {
    this.tracing = tracing;
    this.span = span;
    this.own = own;
  }

  static CallTrace under(
      PdTracing tracing, OperationSpan parent, String method, String host, int port) {
    if (tracing.proposalShape()) {
      return new CallTrace(tracing, parent, false);
    }
    OperationSpan span =
        tracing
            .telemetry()
            .span(PdSpans.UPSTREAM, PdTracing.known(method), parent)
            .set(CommonAttributes.HTTP_REQUEST_METHOD, PdTracing.known(method))
            .set(CommonAttributes.SERVER_ADDRESS, host)
            .set(CommonAttributes.SERVER_PORT, port)
            .start();
    return new CallTrace(tracing, span, true);
  }

  /** Writes the trace context into the call's headers, replacing the client's. */
  public void inject(HttpHeaders headers) {
    tracing.telemetry().inject(span, headers, NettyHeaders.HEADERS);
  }

  /** Records the status of the engine's response. */
  public void answered(int status) {
    if (own) {
      span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
      if (status >= FIRST_ERROR_STATUS) {
        span.fail(Integer.toString(status), "");
      }
    }
  }

  /** Ends the span with a failure: there was no complete response. */
  public void failed(String type) {
    if (own) {
      span.fail(type, "the call failed");
      span.close();
    }
  }

  /** Ends the span after a complete response. */
  public void end() {
    if (own) {
      span.close();
    }
  }
}
