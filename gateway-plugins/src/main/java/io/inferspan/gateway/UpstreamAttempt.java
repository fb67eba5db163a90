package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.gateway.Parts.Part;
import io.inferspan.semconv.CommonAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One call to an engine for a request, from before its connection to the last byte of its response.
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
  private @Nullable Answer answer;
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

  /** The context that the call takes as its parent. */
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

  /** Returns whether anything is recorded; otherwise nothing need be reported. */
  public boolean watched() {
    return request.watched();
  }

  /** Sets the called engine if it is known only later. */
  public void target(String host, int port) {
    target(new Target(host, port));
  }

  /** The same, named as routing headers name it: {@code host:port}. */
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
   * A connection is there, new or used before; the request is being sent. If it is not called, the
   * time until then counts for the first token.
   */
  public void connected() {
    if (!request.watched()) {
      return;
    }
    synchronized (request) {
      if (!ended && request.isLast(this)) {
        request.parts().enter(Part.FIRST_TOKEN, request.now());
      }
    }
  }

  /**
   * The engine's answer begins.
   *
   * @param contentType of the answer, or null
   * @param contentEncoding of the answer, or null
   */
  public void responseHead(
      int code, @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    if (!request.watched()) {
      return;
    }
    synchronized (request) {
      if (!ended) {
        if (request.isLast(this)) {
          request.parts().connectedUntold();
        }
        status = code;
        answer = Answer.of(contentType, contentEncoding);
      }
    }
  }

  /** A piece of the engine's answer passes; the buffer stays as it is. */
  public void see(ByteBuffer piece) {
    if (request.watched()) {
      synchronized (request) {
        if (!ended) {
          request.see(answer, piece);
        }
      }
    }
  }

  /** The answer is complete. */
  public void end() {
    finish(null, null);
  }

  /** The engine gave no complete answer; the message of the cause stays here. */
  public void fail(@Nullable Throwable cause) {
    finish(cause == null ? "unknown" : cause.getClass().getName(), cause);
  }

  /** The engine gave no complete answer, for a reason that has few values. */
  public void fail(String type) {
    finish(type, null);
  }

  /** The engine has not answered within a time limit of the gateway, which may try another. */
  public void timedOut() {
    finish(Ending.TIMEOUT, null);
  }

  /** The call was given up because the client has gone, and so the request has ended. */
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
      request.left(this, endedNanos);
    }
    if (own != null) {
      own.closeAt(request.epochNanos(nowNanos));
    }
  }

  private void describe(OperationSpan own, @Nullable Throwable cause) {
    if (status > 0) {
      own.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
    }
    Answer passed = request.answerOf(this);
    if (passed != null) {
      passed.tap().describeUsage(own);
    }
    if (cause != null) {
      own.fail(cause);
    } else if (errorType != null) {
      own.fail(errorType, "the call failed");
    } else if (status >= FIRST_ERROR_STATUS) {
      own.fail(Integer.toString(status), "");
    }
  }

  // For the request, which calls with its lock.

  void begin(boolean ownSpan) {
    if (ownSpan) {
      span = pending().start();
    }
  }

  /**
   * There is another attempt: this one's span is made, if it has none, as if it always was.
   *
   * @return what closes the span of an attempt that is over, to be run without the lock, or null
   */
  @Nullable Runnable isOneOfSeveral() {
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

  /** The request has ended with it still open. */
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

  @Nullable Answer answer() {
    return answer;
  }
}
