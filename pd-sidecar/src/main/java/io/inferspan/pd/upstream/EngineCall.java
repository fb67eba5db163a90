package io.inferspan.pd.upstream;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request to an engine and its response, which is buffered whole; a response beyond the limit is
 * a failure. A subclass may receive the response in pieces instead.
 *
 * <p>The request is written in slices, as the connection accepts them. Its bytes are held until the
 * call has ended, or until they are written if it is sent {@linkplain #onlyOnce once}.
 *
 * <p>It runs on the client's event loop. {@link #ended} or {@link #failed} is called last, and
 * once, unless the call was cancelled.
 */
public class EngineCall {
  private static final int SLICE_BYTES = 256 * 1024;

  /** The size of a slice if the budget is used up, so that each request makes progress. */
  private static final int SMALLEST_SLICE_BYTES = 16 * 1024;

  private static final int TRACE_ID_START = 3;
  private static final int TRACE_ID_END = 35;

  private final HttpRequest request;
  private final CallTrace trace;

  /** Receives the response; null in a subclass that receives it in pieces. */
  private final @Nullable Consumer<EngineAnswer> next;

  /** The buffered response; null if the subclass receives it in pieces, and after its end. */
  private @Nullable HeldBody answer;

  private final long answerLimit;
  private @Nullable HttpResponse answerHead;
  private @Nullable ScheduledFuture<?> deadline;
  private @Nullable JsonPieces body;
  private @Nullable HeldBody held;
  private JsonPieces.@Nullable Reader unwritten;
  private @Nullable UpstreamConnection connection;
  private boolean replayable;
  private boolean once;
  private boolean written;
  private boolean writing;
  private boolean finished;
  private boolean raw;

  /**
   * Creates a call that has not started.
   *
   * @param held the holder of the bytes of {@code body}, which this call releases; the response is
   *     counted in the same budget
   * @param next receives the response once and releases its body; not called after a cancellation
   */
  public EngineCall(
      HttpRequest request,
      JsonPieces body,
      HeldBody held,
      long answerLimit,
      CallTrace trace,
      Consumer<EngineAnswer> next) {
    this.request = request;
    this.body = body;
    this.held = held;
    this.answer = held.bodies().open();
    this.answerLimit = answerLimit;
    this.trace = trace;
    this.next = next;
  }

  /**
   * Creates a call whose response the subclass receives in pieces.
   *
   * @param body null if {@link #connected} writes the request
   */
  protected EngineCall(
      HttpRequest request, @Nullable JsonPieces body, @Nullable HeldBody held, CallTrace trace) {
    this.request = request;
    this.body = body;
    this.held = held;
    this.trace = trace;
    this.next = null;
    this.answerLimit = 0;
  }

  protected final HttpRequest sent() {
    return request;
  }

  protected final CallTrace trace() {
    return trace;
  }

  /** Allows the request to be sent again if an idle connection turns out to be dead. */
  public final void allowReplay() {
    replayable = true;
  }

  /** Releases the body when it is written, because the request will not be sent again. */
  public final void onlyOnce() {
    once = true;
    if (written) {
      releaseRequest();
    }
  }

  private void releaseRequest() {
    body = null;
    unwritten = null;
    if (held != null) {
      held.release();
      held = null;
    }
  }

  /** Writes the request when the connection is open, and again for a replay. */
  protected void connected() {
    if (body == null) {
      // The idle connection was dead, and the body was not kept for a replay.
      giveUp(new UpstreamFailure(Kind.RESET, "the connection ended before the engine answered"));
      return;
    }
    unwritten = body.reader();
    send();
    resume();
  }

  private void giveUp(UpstreamFailure why) {
    if (connection != null && !finished) {
      connection.close();
    }
    fail(why);
  }

  /** Called when the connection accepts more of the request: continues to write it. */
  protected void resume() {
    if (writing) {
      return;
    }
    writing = true;
    while (unwritten != null && held != null && writable()) {
      write(unwritten, held.bodies());
    }
    writing = false;
  }

  private void write(JsonPieces.Reader rest, HeldBodies bodies) {
    int size = Math.min(rest.left(), SLICE_BYTES);
    if (!bodies.hasRoom(size)) {
      size = Math.min(size, SMALLEST_SLICE_BYTES);
    }
    writeSlice(rest, size, bodies);
    if (rest.left() == 0) {
      unwritten = null;
      written = true;
      if (once) {
        releaseRequest();
      }
    }
    flush();
  }

  private void writeSlice(JsonPieces.Reader rest, int size, HeldBodies bodies) {
    // If the slice were not direct memory, the transport would copy the whole rest of the body at
    // once.
    ByteBuf slice = PooledByteBufAllocator.DEFAULT.directBuffer(size);
    rest.read(size, slice);
    bodies.add(size);
    if (connection == null) {
      slice.release();
      bodies.give(size);
      return;
    }
    boolean last = rest.left() == 0;
    HttpContent part =
        last
            ? new DefaultLastHttpContent(slice, EmptyHttpHeaders.INSTANCE)
            : new DefaultHttpContent(slice);
    connection.write(part, () -> bodies.give(size));
    if (last) {
      connection.requestSent();
    }
  }

  /** Receives status and headers; interim responses (1xx) are not passed. */
  protected void head(HttpResponse head) {
    ForwardedHeaders.fromEngine(head);
    head.headers().remove(HttpHeaderNames.TRANSFER_ENCODING);
    answerHead = head;
  }

  /** Receives a piece of the body, and must release it or pass it on. */
  protected void content(ByteBuf content) {
    if (answer != null) {
      if ((long) answer.length() + content.readableBytes() > answerLimit) {
        giveUp(new UpstreamFailure(Kind.GARBAGE, "the engine's answer is larger than allowed"));
      } else if (!answer.append(content)) {
        giveUp(UpstreamFailure.noRoom());
      }
    }
    content.release();
  }

  /** Called when there is no more to read for now: flush what was passed on. */
  protected void pause() {}

  protected void ended(HttpHeaders trailers) {
    HeldBody whole = answer;
    if (next != null && answerHead != null && whole != null) {
      // Before the response is passed on, so that it is passed on once.
      finished = true;
      answer = null;
      stopTimer();
      int status = answerHead.status().code();
      trace.answered(status);
      trace.end();
      next.accept(EngineAnswer.of(status, answerHead.headers(), whole));
    }
  }

  protected void failed(UpstreamFailure failure) {
    dropAnswer();
    trace.failed(failure.type());
    if (next != null) {
      next.accept(EngineAnswer.none(failure));
    }
  }

  private void dropAnswer() {
    stopTimer();
    if (answer != null) {
      answer.release();
      answer = null;
    }
  }

  private void stopTimer() {
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  /** Sets a timeout for the call; zero for none. */
  public final void endAfter(EventLoop loop, Duration time) {
    if (!finished && !time.isZero()) {
      deadline = loop.schedule(this::expire, time.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  public final void expire() {
    giveUp(UpstreamFailure.overdue());
  }

  /** Writes the request's head; call {@link #flush} to send it. */
  protected final void send() {
    if (connection != null) {
      if (!request.headers().contains(HttpHeaderNames.HOST)) {
        request.headers().set(HttpHeaderNames.HOST, connection.target().authority());
      }
      connection.write(request);
    }
  }

  /** Writes a piece of the request's body and takes ownership of it. */
  protected final void write(ByteBuf content) {
    if (connection == null) {
      content.release();
    } else {
      connection.write(raw ? content : new DefaultHttpContent(content));
    }
  }

  protected final void finish(HttpHeaders trailers) {
    if (connection != null) {
      HttpContent last = LastHttpContent.EMPTY_LAST_CONTENT;
      if (!trailers.isEmpty()) {
        last = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, trailers);
      }
      connection.write(last);
      connection.requestSent();
    }
  }

  protected final void flush() {
    if (connection != null) {
      connection.flush();
    }
  }

  /** Returns whether the connection accepts more without buffering. */
  protected final boolean writable() {
    return connection != null && connection.writable();
  }

  /** Stops or resumes reading the response, so that a slow client does not fill memory. */
  protected final void reading(boolean on) {
    if (connection != null && !finished) {
      connection.reading(on);
    }
  }

  /** Cancels the call, and ends its span with this error. */
  public final void cancel(String errorType) {
    if (!finished) {
      cancel();
      trace.failed(errorType);
    }
  }

  /** Cancels the call: the connection is closed, and nothing more is received. */
  public void cancel() {
    if (!finished) {
      finished = true;
      releaseRequest();
      dropAnswer();
      if (connection != null) {
        connection.close();
      }
    }
  }

  /** Returns whether the request asks to upgrade this connection to another protocol. */
  final boolean upgrading() {
    return request.headers().contains(HttpHeaderNames.UPGRADE);
  }

  /** Switches to raw bytes for all further writes. */
  final void switched() {
    raw = true;
  }

  /** Returns the trace id, for logs; empty for none. */
  final String traceId() {
    String traceparent = request.headers().get("traceparent");
    return traceparent == null || traceparent.length() < TRACE_ID_END
        ? ""
        : traceparent.substring(TRACE_ID_START, TRACE_ID_END);
  }

  /** Returns whether the response was received, or the call has failed or was cancelled. */
  public final boolean over() {
    return finished;
  }

  final boolean replayable() {
    return replayable;
  }

  final void begin(UpstreamConnection on) {
    connection = on;
    connected();
  }

  final void end(HttpHeaders trailers) {
    if (!finished) {
      connection = null;
      releaseRequest();
      ended(trailers);
      // Only now, so that an exception in ended() still fails the call.
      finished = true;
    }
  }

  final void fail(UpstreamFailure failure) {
    if (!finished) {
      finished = true;
      connection = null;
      releaseRequest();
      failed(failure);
    }
  }

  final void fault(Throwable cause) {
    fail(
        cause instanceof OutOfMemoryError
            ? UpstreamFailure.noRoom()
            : new UpstreamFailure(Kind.INTERNAL, "the proxy failed; its log has the cause"));
  }
}
