package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.gateway.Parts.Part;
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
 * <p>Thread-safe. It ends once, with the first of {@link #end}, {@link #clientGone}, {@link
 * #timedOut} and {@link #fail}; later calls are ignored. No method throws, and bytes are only read,
 * in the caller's buffers.
 *
 * <p>A gateway that calls engines reports each call to an {@link UpstreamAttempt}. One that does
 * not see its calls writes the trace into the request's own headers with {@link #inject}, and
 * reports the response to {@link #responseHead} and {@link #see}.
 */
public final class GatewayRequest {

  private final GatewayTracing tracing;
  private final String id;
  private final OperationSpan span;
  private final Arrival arrival;
  private final boolean watched;
  private final Parts parts;
  private final RequestBody asked;
  private final Attempts attempts;
  private @Nullable Answer answer;
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
    // Unobserved, nothing is reported to them, so that they need not be made.
    this.parts = watched ? new Parts(arrival.nanos()) : Parts.UNSEEN;
    this.asked = watched ? new RequestBody() : RequestBody.UNSEEN;
    this.attempts = watched ? Attempts.none() : Attempts.UNSEEN;
  }

  /** The context that everything done for the request takes as its parent. */
  public Context context() {
    return span.context();
  }

  /** The client's {@code x-request-id} if that is well-formed, else a generated one. */
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
   * @param setter replaces all values of a name, ignoring its case; when it sets a new {@code
   *     traceparent}, it must remove a {@code tracestate}, which may belong to another trace; a
   *     {@link TraceSetter} does both
   */
  public <C> void inject(C headers, TextMapSetter<C> setter) {
    tracing.inject(span, id, headers, setter);
  }

  /** Sets an attribute of the request's span. */
  public <T> GatewayRequest set(Attribute<T> attribute, @Nullable T value) {
    span.set(attribute, value);
    return this;
  }

  /** Sets the requested operation, as the conventions name it, such as {@code chat}. */
  public synchronized GatewayRequest operation(String name) {
    operation = name;
    span.set(GenAiAttributes.OPERATION, name);
    return this;
  }

  /** The model that the client named. */
  public GatewayRequest model(String name) {
    if (watched) {
      synchronized (this) {
        asked.model(name);
      }
    }
    return this;
  }

  /** Sets whether the client requests a stream. */
  public GatewayRequest stream(boolean wanted) {
    if (watched) {
      synchronized (this) {
        asked.stream(wanted);
      }
    }
    return this;
  }

  /** The most tokens that the client wants back. */
  public GatewayRequest maxTokens(long count) {
    if (watched) {
      synchronized (this) {
        asked.maxTokens(count);
      }
    }
    return this;
  }

  /**
   * A piece of the request's body passes, from which model, stream and limit are read.
   *
   * <p>Use it in place of the three methods before. The buffer stays as it is.
   */
  public void requestBody(ByteBuffer piece) {
    if (watched) {
      synchronized (this) {
        asked.see(piece);
      }
    }
  }

  /** The request waits from now on. */
  public void queued() {
    enter(Part.QUEUE);
  }

  /** The request waits no longer; an endpoint is picked for it. */
  public void dequeued() {
    enter(Part.SCHEDULE);
  }

  private void enter(Part part) {
    if (watched) {
      synchronized (this) {
        if (!ended) {
          parts.enter(part, tracing.now());
        }
      }
    }
  }

  /**
   * Admission and scheduling of the request, under a span that is closed when they are over.
   *
   * <p>llm-d has had it since its first release. In the tracing proposal's names there is none: the
   * spans of plugins hang right under the request's, and nothing is recorded here.
   */
  public OperationSpan orchestration(String targetModel) {
    return tracing.orchestration(span, targetModel, arrival.priority());
  }

  /** An engine is about to be called: the host and port that are connected to. */
  public UpstreamAttempt attempt(String host, int port) {
    return attempt(new Target(host, port));
  }

  /** An engine is about to be called, named as routing headers name it: {@code host:port}. */
  public UpstreamAttempt attempt(String authority) {
    return attempt(Target.of(authority));
  }

  private UpstreamAttempt attempt(Target target) {
    if (!watched) {
      // An attempt that is not recorded only needs the request's context.
      return new UpstreamAttempt(this, target, 0);
    }
    Runnable late;
    UpstreamAttempt attempt;
    synchronized (this) {
      UpstreamAttempt before = attempts.last();
      late = before == null || ended ? null : before.isOneOfSeveral();
      attempt = another(target);
    }
    if (late != null) {
      late.run();
    }
    return attempt;
  }

  /** To be called with the lock. */
  private UpstreamAttempt another(Target target) {
    int resend = attempts.next();
    boolean ownSpan = resend > 0 || tracing.everyAttemptHasSpan();
    UpstreamAttempt attempt = new UpstreamAttempt(this, target, resend);
    if (!ended) {
      attempts.add(attempt);
      attempt.begin(ownSpan);
      enter(Part.CONNECT);
    }
    return attempt;
  }

  /** The client's answer begins. */
  public void status(int code) {
    if (watched) {
      synchronized (this) {
        status = code;
      }
    }
  }

  /**
   * The client's answer begins, and its bytes will pass {@link #see}.
   *
   * @param contentType of the answer, or null
   * @param contentEncoding of the answer, or null
   */
  public void responseHead(
      int code, @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    if (watched) {
      synchronized (this) {
        status = code;
        answer = ended ? answer : Answer.of(contentType, contentEncoding);
      }
    }
  }

  /** Records a piece of the client's response, unless an attempt has recorded it. */
  public void see(ByteBuffer piece) {
    if (watched) {
      synchronized (this) {
        see(answer, piece);
      }
    }
  }

  /** To be called with the lock. */
  void see(@Nullable Answer passing, ByteBuffer piece) {
    if (passing != null && !ended) {
      long now = tracing.now();
      if (passing.see(piece, now)) {
        parts.enter(Part.REST, now);
      }
    }
  }

  /** The last byte of the answer has been handed over. */
  public void end() {
    finish(Ending.SERVED);
  }

  /** The client went away before its answer was complete. */
  public void clientGone() {
    finish(Ending.CLIENT_GONE);
  }

  /** A time limit of the gateway was reached, and nothing more will be answered. */
  public void timedOut() {
    finish(Ending.TIMED_OUT);
  }

  /** The request ended with a failure of the gateway; the message of it stays here. */
  public void fail(@Nullable Throwable cause) {
    finish(Ending.failed(cause));
  }

  /**
   * The request ended with a failure of the gateway.
   *
   * @param type what kind of error it is, in few values
   * @param description one sentence that holds nothing of the request's content
   */
  public void fail(String type, String description) {
    finish(Ending.failed(type, description));
  }

  private void finish(Ending told) {
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
      parts.end(now);
      unfinished = attempts.open();
      Answer seen = passed();
      ending = told.after(status, attempts.last(), seen != null && seen.failedWithin());
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
    asked.describe(span);
    parts.describe(span);
    if (status > 0) {
      span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status);
    }
    attempts.describe(span);
    ending.describe(span);
  }

  private @Nullable ResponseTap tap() {
    Answer seen = passed();
    return seen == null ? null : seen.tap();
  }

  /** The answer that was looked at: the client's if the gateway shows that, else the engine's. */
  private @Nullable Answer passed() {
    UpstreamAttempt engine = attempts.last();
    return engine == null ? answer : answerOf(engine);
  }

  @Nullable Answer answerOf(UpstreamAttempt attempt) {
    return answer != null && attempts.isLast(attempt) ? answer : attempt.answer();
  }

  private void count(Outcome outcome, long nowNanos) {
    GatewayMeters meters = tracing.meters();
    String counted = operation;
    if (meters != null && counted != null) {
      Served served =
          new Served(counted, asked.model(), arrival.tenant(), outcome, arrival.nanos(), nowNanos);
      meters.record(served, tap(), span.context());
    }
  }

  // For attempts, which call with the lock.

  GatewayTracing tracing() {
    return tracing;
  }

  /** The time, where anybody sees what comes of it. */
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

  Parts parts() {
    return parts;
  }

  /** An attempt has ended, and the gateway goes on with something else. */
  void left(UpstreamAttempt attempt, long nowNanos) {
    attempts.remove(attempt);
    if (isLast(attempt)) {
      parts.enter(Part.SCHEDULE, nowNanos);
    }
  }

  boolean isLast(UpstreamAttempt attempt) {
    return attempts.isLast(attempt) && !ended;
  }
}
