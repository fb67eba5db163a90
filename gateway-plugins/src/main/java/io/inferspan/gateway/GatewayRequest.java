package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.gateway.Phases.Phase;
import io.inferspan.gateway.metrics.GatewayMeters;
import io.inferspan.gateway.metrics.Outcome;
import io.inferspan.gateway.metrics.Served;
import io.inferspan.propagation.RequestId;
import io.inferspan.response.ResponseTap;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An active request, from {@link GatewayTracing#begin} to its actual end: the last byte, a
 * disconnected client, a timeout or an error.
 *
 * <p>Thread-safe. The first call of {@link #end}, {@link #clientGone}, {@link #timedOut} or {@link
 * #fail} ends the request; later calls are ignored. No method throws. Bytes are read in the
 * caller's buffers, which are not changed.
 *
 * <p>A gateway that calls engines reports each call to an {@link UpstreamAttempt}. A gateway that
 * does not control its calls uses {@link #inject} to write the trace into the request's headers,
 * and reports the response with {@link #responseHead} and {@link #see}.
 */
public final class GatewayRequest {

  private final GatewayTracing tracing;
  private final String id;
  private final OperationSpan span;
  private final Arrival arrival;
  private final boolean watched;
  private final Phases phases;
  private final RequestBody body;
  private final Attempts attempts;
  private @Nullable ObservedResponse response;
  private @Nullable String operation;
  private int status;
  private boolean ended;

  GatewayRequest(
      GatewayTracing tracing, OperationSpan span, Arrival arrival, @Nullable String receivedId) {
    this.tracing = tracing;
    this.id = RequestId.of(receivedId);
    this.span = span;
    this.arrival = arrival;
    this.operation = arrival.api().operation();
    this.watched = span.recording() || tracing.meters() != null;
    // Unobserved requests share objects that store nothing.
    this.phases = watched ? new Phases(arrival.nanos()) : Phases.UNSEEN;
    this.body = watched ? new RequestBody() : RequestBody.UNSEEN;
    this.attempts = watched ? Attempts.none() : Attempts.UNSEEN;
  }

  /** Returns the context to use as the parent of all work for the request. */
  public Context context() {
    return span.context();
  }

  /** Returns the client's {@code x-request-id} if it is well-formed, else a generated one. */
  public String id() {
    return id;
  }

  /** Returns whether the span is recording; check before computing a costly attribute. */
  public boolean recording() {
    return span.recording();
  }

  /** Returns whether anything is recorded; otherwise bytes need not be passed to {@link #see}. */
  public boolean watched() {
    return watched;
  }

  /**
   * Writes the trace and the request id into the headers of a call without an {@link
   * UpstreamAttempt}.
   *
   * @param setter replaces all values of a name, ignoring its case, and removes the {@code
   *     tracestate} when it sets a {@code traceparent}; a {@link TraceSetter} does both
   */
  public <C> void inject(C headers, TextMapSetter<C> setter) {
    tracing.inject(span, id, headers, setter);
  }

  /** Sets an attribute of the request's span. */
  public <T> GatewayRequest set(Attribute<T> attribute, @Nullable T value) {
    span.set(attribute, value);
    return this;
  }

  /** Sets the {@code gen_ai.operation.name}, such as {@code chat}. */
  public synchronized GatewayRequest operation(String name) {
    operation = name;
    span.set(GenAiAttributes.OPERATION, name);
    return this;
  }

  /** Sets the model that the client requests. */
  public GatewayRequest model(String name) {
    if (watched) {
      synchronized (this) {
        body.model(name);
      }
    }
    return this;
  }

  /** Sets whether the client requests a stream. */
  public GatewayRequest stream(boolean wanted) {
    if (watched) {
      synchronized (this) {
        body.stream(wanted);
      }
    }
    return this;
  }

  /** Sets the maximum number of tokens that the client requests. */
  public GatewayRequest maxTokens(long count) {
    if (watched) {
      synchronized (this) {
        body.maxTokens(count);
      }
    }
    return this;
  }

  /**
   * Reads the model, the stream flag and the token limit from a piece of the request's body.
   *
   * <p>Use it instead of {@link #model}, {@link #stream} and {@link #maxTokens}.
   */
  public void requestBody(ByteBuffer piece) {
    if (watched) {
      synchronized (this) {
        body.see(piece);
      }
    }
  }

  /** Records that the request enters a queue. */
  public void queued() {
    enter(Phase.QUEUE);
  }

  /** Records that the request has left the queue and that its endpoint is being picked. */
  public void dequeued() {
    enter(Phase.SCHEDULE);
  }

  private void enter(Phase next) {
    if (watched) {
      synchronized (this) {
        if (!ended) {
          phases.enter(next, tracing.now());
        }
      }
    }
  }

  /**
   * Starts the span of the request's admission and scheduling; close it when they have ended.
   *
   * <p>The proposal's naming scheme has no such span. With it, nothing is recorded here, and the
   * spans of plugins are children of the request's span.
   */
  public OperationSpan orchestration(String targetModel) {
    return tracing.orchestration(span, targetModel, arrival.priority());
  }

  /** Starts an attempt: a call to an engine at this host and port. */
  public UpstreamAttempt attempt(String host, int port) {
    return attempt(new Target(host, port));
  }

  /** Starts an attempt: a call to an engine named {@code host:port}, as in routing headers. */
  public UpstreamAttempt attempt(String authority) {
    return attempt(Target.of(authority));
  }

  private UpstreamAttempt attempt(Target target) {
    if (!watched) {
      // An unrecorded attempt only needs the request's context.
      return new UpstreamAttempt(this, target, 0);
    }
    Runnable closing;
    UpstreamAttempt attempt;
    synchronized (this) {
      UpstreamAttempt before = attempts.last();
      closing = before == null || ended ? null : before.ensureSpan();
      attempt = newAttempt(target);
    }
    if (closing != null) {
      closing.run();
    }
    return attempt;
  }

  /** Adds an attempt; the caller holds the lock. */
  private UpstreamAttempt newAttempt(Target target) {
    int resend = attempts.next();
    boolean ownSpan = resend > 0 || tracing.everyAttemptHasSpan();
    UpstreamAttempt attempt = new UpstreamAttempt(this, target, resend);
    if (!ended) {
      attempts.add(attempt);
      attempt.begin(ownSpan);
      enter(Phase.CONNECT);
    }
    return attempt;
  }

  /** Records the status of the response to the client. */
  public void status(int code) {
    if (watched) {
      synchronized (this) {
        status = code;
      }
    }
  }

  /**
   * Records the head of the response to the client, whose body will be passed to {@link #see}.
   *
   * @param contentType the response's content type, or null
   * @param contentEncoding the response's content encoding, or null
   */
  public void responseHead(
      int code, @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    if (watched) {
      synchronized (this) {
        status = code;
        response = ended ? response : ObservedResponse.of(contentType, contentEncoding);
      }
    }
  }

  /** Records a piece of the response to the client. Do not pass pieces that an attempt records. */
  public void see(ByteBuffer piece) {
    if (watched) {
      synchronized (this) {
        see(response, piece);
      }
    }
  }

  /** Records a piece of a response; the caller holds the lock. */
  void see(@Nullable ObservedResponse observed, ByteBuffer piece) {
    if (observed != null && !ended) {
      long now = tracing.now();
      if (observed.see(piece, now)) {
        phases.enter(Phase.REST, now);
      }
    }
  }

  /** Ends the request after the last byte of its response was sent. */
  public void end() {
    finish(Ending.SERVED);
  }

  /** Ends the request because the client disconnected before the response was complete. */
  public void clientGone() {
    finish(Ending.CLIENT_GONE);
  }

  /** Ends the request because a time limit of the gateway was reached. */
  public void timedOut() {
    finish(Ending.TIMED_OUT);
  }

  /** Ends the request with a failure of the gateway; see {@link OperationSpan#fail(Throwable)}. */
  public void fail(@Nullable Throwable cause) {
    finish(Ending.failed(cause));
  }

  /**
   * Ends the request with a failure of the gateway.
   *
   * @param type the type of the error, a low-cardinality value
   * @param description one sentence without request content
   */
  public void fail(String type, String description) {
    finish(Ending.failed(type, description));
  }

  private void finish(Ending reported) {
    if (!watched) {
      return;
    }
    Ending ending;
    List<UpstreamAttempt> unfinished;
    long now;
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      now = now();
      phases.end(now);
      unfinished = attempts.open();
      ObservedResponse seen = response();
      ending = reported.after(status, attempts.last(), seen != null && seen.failedWithin());
      describe(ending, now);
    }
    unfinished.forEach(attempt -> attempt.endWith(ending, now));
    count(ending.outcome(), now);
    span.closeAt(epochNanos(now));
  }

  private void describe(Ending ending, long nowNanos) {
    ResponseTap seen = tap();
    if (seen != null) {
      seen.end(nowNanos);
      seen.describe(span, arrival.nanos());
    }
    if (!span.recording()) {
      return;
    }
    body.describe(span);
    phases.describe(span);
    if (status > 0) {
      span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
    }
    attempts.describe(span);
    ending.describe(span);
  }

  private @Nullable ResponseTap tap() {
    ObservedResponse seen = response();
    return seen == null ? null : seen.tap();
  }

  /** Returns the response to the client if the gateway reports it, else the engine's response. */
  private @Nullable ObservedResponse response() {
    UpstreamAttempt last = attempts.last();
    return last == null ? response : responseOf(last);
  }

  @Nullable ObservedResponse responseOf(UpstreamAttempt attempt) {
    return response != null && attempts.isLast(attempt) ? response : attempt.response();
  }

  private void count(Outcome outcome, long nowNanos) {
    GatewayMeters meters = tracing.meters();
    String counted = operation;
    if (meters != null && counted != null) {
      Served served =
          new Served(counted, body.model(), arrival.tenant(), outcome, arrival.nanos(), nowNanos);
      meters.record(served, tap(), span.context());
    }
  }

  // The following methods are for attempts, which hold the lock.

  GatewayTracing tracing() {
    return tracing;
  }

  /** Returns the time, or 0 if nothing is recorded. */
  long now() {
    return watched ? tracing.now() : 0;
  }

  /** Returns a span timestamp. */
  long epochNanos(long atNanos) {
    return arrival.epochNanos(atNanos);
  }

  OperationSpan span() {
    return span;
  }

  String method() {
    return arrival.method();
  }

  Phases phases() {
    return phases;
  }

  /** Removes an attempt that has ended. */
  void attemptEnded(UpstreamAttempt attempt, long nowNanos) {
    attempts.remove(attempt);
    if (isLast(attempt)) {
      phases.enter(Phase.SCHEDULE, nowNanos);
    }
  }

  boolean isLast(UpstreamAttempt attempt) {
    return attempts.isLast(attempt) && !ended;
  }
}
