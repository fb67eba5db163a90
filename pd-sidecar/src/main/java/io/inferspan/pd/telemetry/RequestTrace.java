package io.inferspan.pd.telemetry;

import io.inferspan.OperationSpan;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.response.ResponseTap;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.PdAttributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/**
 * The trace of one request: its span or spans, and their timings.
 *
 * <p>It ends once; later events are ignored.
 */
public final class RequestTrace {
  private static final int FIRST_ERROR_STATUS = 500;
  private static final String DENIED = "ssrf_protection_denied";

  private final PdTracing tracing;
  private final @Nullable OperationSpan server;
  private final OperationSpan request;
  private final long arrivedNanos = System.nanoTime();
  private @Nullable StageTrace prefill;
  private @Nullable StageTrace decode;
  private @Nullable String requestId;
  private Dispatch dispatch = Dispatch.SERIAL;
  private boolean failed;
  private boolean ended;

  RequestTrace(PdTracing tracing, @Nullable OperationSpan server, OperationSpan request) {
    this.tracing = tracing;
    this.server = server;
    this.request = request;
  }

  /** Returns when the request arrived, on the monotonic clock. */
  public long arrivedNanos() {
    return arrivedNanos;
  }

  /** Returns the span context, for logs and exemplars. */
  public SpanContext spanContext() {
    return Span.fromContext(request.context()).getSpanContext();
  }

  public <T> RequestTrace set(Attribute<T> attribute, @Nullable T value) {
    request.set(attribute, value);
    return this;
  }

  /** Records that prefill does not run on another pod, and why. */
  public void notDisaggregated(String reason) {
    request.set(PdAttributes.DISAGGREGATION_USED, false).set(PdAttributes.REASON, reason);
  }

  /** Records that prefill runs on another pod, chosen from {@code candidates}. */
  public void disaggregated(String target, int candidates) {
    request
        .set(PdAttributes.DISAGGREGATION_USED, true)
        .set(PdAttributes.PREFILL_TARGET, target)
        .set(PdAttributes.PREFILL_CANDIDATES, candidates);
  }

  /** Sets the id that all stages have in common. */
  public void identify(String id) {
    requestId = id;
  }

  /** Returns the id that all stages have in common; null if no stage has set one yet. */
  public @Nullable String requestId() {
    return requestId;
  }

  /** Records how many encoders were offered and how many of them are allowed. */
  public void encoders(int offered, int allowed) {
    request
        .set(PdAttributes.ENCODE_USED, allowed > 0)
        .set(PdAttributes.ENCODER_CANDIDATES, offered)
        .set(PdAttributes.ENCODER_COUNT, allowed);
    if (allowed == 0) {
      request.set(PdAttributes.ENCODER_ALLOWED, 0);
    }
  }

  /** Records that the prefill target is not on the allow-list. */
  public void denied(String target) {
    notDisaggregated(DENIED);
    request.set(PdAttributes.ERROR, DENIED).set(PdAttributes.DENIED_TARGET, target);
    fail(DENIED, "SSRF protection: prefill target not in allowlist");
  }

  public void fail(String type, String description) {
    failed = true;
    request.fail(type, description);
  }

  public StageTrace prefill(Dispatch how) {
    dispatch = how;
    OperationSpan span = stage(request, PdSpans.PREFILL);
    switch (how) {
      case SERIAL -> {}
      case DETACHED -> span.set(PdAttributes.PREFILL_ASYNC, true);
      case PARALLEL -> span.set(PdAttributes.PARALLEL_DISPATCH, true);
    }
    StageTrace stage = new StageTrace(tracing, span, how == Dispatch.DETACHED ? request : span);
    prefill = stage;
    return stage;
  }

  /**
   * Begins the decode stage. As in llm-d's releases since 0.9, its span is a child of prefill's
   * span, even if that has ended. It is a sibling if both stages are dispatched in parallel, or in
   * the span tree of the tracing proposal.
   */
  public StageTrace decode() {
    boolean siblings = tracing.proposalShape() || dispatch == Dispatch.PARALLEL;
    StageTrace before = siblings ? null : prefill;
    OperationSpan span = stage(before == null ? request : before.span(), PdSpans.DECODE);
    if (dispatch == Dispatch.DETACHED) {
      span.set(PdAttributes.DECODE_CONCURRENT, true);
    }
    decode = new StageTrace(tracing, span, span);
    return decode;
  }

  public StageTrace chunkedDecode() {
    OperationSpan span =
        tracing
            .telemetry()
            .span(PdSpans.CHUNKED_DECODE, decode == null ? request : decode.span())
            .start();
    return new StageTrace(tracing, span, span);
  }

  /** Begins a call to an engine that belongs to no stage. */
  public CallTrace call(String method, String host, int port) {
    return CallTrace.under(tracing, request, method, host, port);
  }

  private OperationSpan stage(OperationSpan parent, SpanType type) {
    return tracing
        .telemetry()
        .span(type, parent)
        .set(PdAttributes.CONNECTOR, tracing.connector())
        .set(PdAttributes.REQUEST_ID, requestId)
        .start();
  }

  /**
   * Ends the request.
   *
   * @param status the status of the client's response, or 0 if it got none
   * @param tap the tap of the response, or null if there was none
   */
  public void end(int status, @Nullable ResponseTap tap) {
    if (ended) {
      return;
    }
    ended = true;
    long now = System.nanoTime();
    if (status >= FIRST_ERROR_STATUS && !failed) {
      request.fail(Integer.toString(status), "answered with an error status");
    }
    if (request.recording()) {
      describe(now);
      if (tap != null) {
        tap.describe(request, arrivedNanos);
      }
    }
    if (decode != null) {
      decode.close();
    }
    closeServer(status);
  }

  private void closeServer(int status) {
    if (server != null && status > 0) {
      server.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
      if (status >= FIRST_ERROR_STATUS) {
        server.fail(Integer.toString(status), "");
      }
    }
    request.close();
    if (server != null) {
      server.close();
    }
  }

  private void describe(long now) {
    if (!request.equals(server)) {
      endToEnd(request, now);
    }
    if (decode != null && !tracing.proposalShape() && dispatch != Dispatch.PARALLEL) {
      endToEnd(decode.span(), now);
    }
  }

  private void endToEnd(OperationSpan span, long now) {
    span.setMillis(PdAttributes.TOTAL_DURATION_MS, now - arrivedNanos);
    if (dispatch == Dispatch.DETACHED) {
      span.set(PdAttributes.CONCURRENT_PD, true);
    }
    StageTrace first = prefill != null && prefill.ended() ? prefill : null;
    if (first != null) {
      span.setMillis(PdAttributes.PREFILL_DURATION_MS, first.durationNanos());
    }
    StageTrace second = decode;
    if (second != null) {
      span.setMillis(PdAttributes.DECODE_DURATION_MS, second.durationNanos());
      span.setMillis(PdAttributes.TRUE_TTFT_MS, ready(first, second) - arrivedNanos);
    }
    if (dispatch == Dispatch.PARALLEL) {
      window(span, first, second);
    } else if (dispatch == Dispatch.SERIAL && first != null && second != null) {
      span.setMillis(
          PdAttributes.COORDINATOR_OVERHEAD_MS, second.startedNanos() - first.endedNanos());
    }
  }

  /**
   * Returns when decode had its input: at its start or, if prefill is concurrent and ends later, at
   * the end of prefill.
   */
  private static long ready(@Nullable StageTrace prefilled, StageTrace decode) {
    long started = decode.startedNanos();
    return prefilled == null ? started : Math.max(started, prefilled.endedNanos());
  }

  private void window(OperationSpan span, @Nullable StageTrace first, @Nullable StageTrace second) {
    span.set(PdAttributes.PARALLEL_DISPATCH, true);
    if (first != null && second != null) {
      long lastEnd = Math.max(first.endedNanos(), second.endedNanos());
      span.setMillis(PdAttributes.PARALLEL_WINDOW_MS, lastEnd - first.startedNanos());
    }
  }
}
