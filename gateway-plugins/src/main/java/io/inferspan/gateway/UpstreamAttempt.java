package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.gateway.Phases.Phase;
import io.inferspan.semconv.CommonAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One call to an engine for a request, from before it connects to the last byte of its response.
 *
 * <p>Thread-safe. It ends once, at the latest with its request. No method throws. {@link
 * AttemptSpans} determines whether it has a span.
 */
public final class UpstreamAttempt {

  private static final int FIRST_ERROR_STATUS = 400;

  private final GatewayRequest request;
  private final int resend;
  private final long startedNanos;
  private Target target;
  private @Nullable OperationSpan span;
  private @Nullable ObservedResponse response;
  private @Nullable String errorType;
  private int status;
  private boolean ended;
  private long endedNanos;

  UpstreamAttempt(GatewayRequest request, Target target, int resend) {
    this.request = request;
    this.target = target;
    this.resend = resend;
    this.startedNanos = request.now();
  }

  /** Returns the context to use as the parent of the call. */
  public Context context() {
    return sender().context();
  }

  /**
   * Writes the trace and the request id into the headers of the call.
   *
   * @param setter as in {@link GatewayRequest#inject}
   */
  public <C> void inject(C headers, TextMapSetter<C> setter) {
    request.tracing().inject(sender(), request.id(), headers, setter);
  }

  private OperationSpan sender() {
    if (!request.watched()) {
      return request.span();
    }
    synchronized (request) {
      OperationSpan own = span;
      return own == null ? request.span() : own;
    }
  }

  /**
   * Returns whether anything is recorded; otherwise, of the other methods, only {@link #context}
   * and {@link #inject} have an effect.
   */
  public boolean watched() {
    return request.watched();
  }

  /** Sets the called engine, if it was unknown when the attempt started. */
  public void target(String host, int port) {
    target(new Target(host, port));
  }

  /** Sets the called engine by its {@code host:port}, as in routing headers. */
  public void target(String authority) {
    target(Target.of(authority));
  }

  private void target(Target called) {
    if (!request.watched()) {
      return;
    }
    synchronized (request) {
      target = called;
      OperationSpan own = span;
      if (own != null) {
        target.describe(own);
      }
    }
  }

  /**
   * Records that a new or pooled connection is available and the request is being sent. Without
   * this call, the time to connect counts as part of the wait for the first token.
   */
  public void connected() {
    if (!request.watched()) {
      return;
    }
    synchronized (request) {
      if (!ended && request.isLast(this)) {
        request.phases().enter(Phase.FIRST_TOKEN, request.now());
      }
    }
  }

  /**
   * Records the head of the engine's response.
   *
   * @param contentType the response's content type, or null
   * @param contentEncoding the response's content encoding, or null
   */
  public void responseHead(
      int code, @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    if (!request.watched()) {
      return;
    }
    synchronized (request) {
      if (!ended) {
        if (request.isLast(this)) {
          request.phases().connectionUnreported();
        }
        status = code;
        response = ObservedResponse.of(contentType, contentEncoding);
      }
    }
  }

  /** Records a piece of the engine's response; the buffer is not changed. */
  public void see(ByteBuffer piece) {
    if (request.watched()) {
      synchronized (request) {
        if (!ended) {
          request.see(response, piece);
        }
      }
    }
  }

  /** Ends the attempt after a complete response. */
  public void end() {
    finish(null, null);
  }

  /** Ends the attempt without a complete response; see {@link OperationSpan#fail(Throwable)}. */
  public void fail(@Nullable Throwable cause) {
    finish(cause == null ? "unknown" : cause.getClass().getName(), cause);
  }

  /** Ends the attempt without a complete response; {@code type} is a low-cardinality value. */
  public void fail(String type) {
    finish(type, null);
  }

  /**
   * Ends the attempt because a time limit of the gateway was reached; the gateway may try another
   * engine.
   */
  public void timedOut() {
    finish(Ending.TIMEOUT, null);
  }

  /** Ends the attempt and the request because the client disconnected. */
  public void clientGone() {
    request.clientGone();
  }

  private void finish(@Nullable String failure, @Nullable Throwable cause) {
    if (request.watched() && isOpen()) {
      finish(failure, cause, request.now());
    }
  }

  private boolean isOpen() {
    synchronized (request) {
      return !ended;
    }
  }

  private void finish(@Nullable String failure, @Nullable Throwable cause, long nowNanos) {
    OperationSpan own;
    synchronized (request) {
      if (ended) {
        return;
      }
      ended = true;
      endedNanos = nowNanos;
      errorType = failure;
      own = span;
      if (own != null) {
        describe(own, cause);
      }
      request.attemptEnded(this, endedNanos);
    }
    if (own != null) {
      own.closeAt(request.epochNanos(nowNanos));
    }
  }

  private void describe(OperationSpan own, @Nullable Throwable cause) {
    if (status > 0) {
      own.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
    }
    ObservedResponse observed = request.responseOf(this);
    if (observed != null) {
      observed.tap().describeUsage(own);
    }
    if (cause != null) {
      own.fail(cause);
    } else if (errorType != null) {
      own.fail(errorType, "the call failed");
    } else if (status >= FIRST_ERROR_STATUS) {
      own.fail(Integer.toString(status), "");
    }
  }

  // The following methods are for the request, which holds the lock.

  void begin(boolean ownSpan) {
    if (ownSpan) {
      span = pending().start();
    }
  }

  /**
   * Creates this attempt's span, with its original start time, if it has none. Called when another
   * attempt starts.
   *
   * @return an action that closes the span of an ended attempt, to be run without the lock; or null
   */
  @Nullable Runnable ensureSpan() {
    if (span != null || !request.span().recording()) {
      return null;
    }
    OperationSpan own = pending().start();
    span = own;
    if (!ended) {
      return null;
    }
    describe(own, null);
    long endEpochNanos = request.epochNanos(endedNanos);
    return () -> own.closeAt(endEpochNanos);
  }

  private PendingSpan pending() {
    PendingSpan pending =
        request
            .tracing()
            .telemetry()
            .span(GatewaySpans.ATTEMPT, request.span())
            .startingAt(request.epochNanos(startedNanos))
            .set(CommonAttributes.HTTP_REQUEST_METHOD, request.method())
            .set(CommonAttributes.HTTP_RESEND_COUNT, resend);
    return target.describe(pending);
  }

  /** Ends the attempt together with its request. */
  void endWith(Ending ending, long nowNanos) {
    boolean broken = ending.outcome().isBroken();
    String type = ending.type();
    finish(broken ? (type == null ? "request_ended" : type) : null, ending.cause(), nowNanos);
  }

  @Nullable String errorType() {
    return errorType;
  }

  boolean answered() {
    return status > 0;
  }

  int status() {
    return status;
  }

  Target target() {
    return target;
  }

  @Nullable ObservedResponse response() {
    return response;
  }
}
