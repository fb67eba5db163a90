package io.inferspan.pd.request;

import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.relay.ForwardedHeaders;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call to an engine whose whole response the proxy buffers and uses itself. A response beyond the
 * limit is a failure.
 */
public final class BufferedCall extends EngineCall {
  private final HeldBody body;
  private final long limit;
  private final RequestWriter writer;
  private final CallTrace trace;
  private final Consumer<EngineAnswer> next;
  private @Nullable HttpResponse head;
  private @Nullable ScheduledFuture<?> deadline;
  private boolean over;

  /**
   * Creates a call that has not started.
   *
   * @param bodies the memory budget of the response
   * @param replayable whether it may be sent again if an idle connection turns out to be dead
   * @param next receives the response once and releases its body; not called after a cancellation
   */
  public BufferedCall(
      HeldBodies bodies,
      long limit,
      RequestWriter writer,
      CallTrace trace,
      boolean replayable,
      Consumer<EngineAnswer> next) {
    super(replayable);
    this.body = bodies.open();
    this.limit = limit;
    this.writer = writer;
    this.trace = trace;
    this.next = next;
  }

  /** Sets a timeout for the call; zero for none. */
  public void endAfter(EventLoop loop, Duration time) {
    if (!over && !time.isZero()) {
      deadline = loop.schedule(this::expire, time.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Ends the call with a timeout failure. */
  void expire() {
    giveUp(UpstreamFailure.overdue());
  }

  private void giveUp(UpstreamFailure why) {
    if (!over) {
      cancel();
      trace.failed(why.type());
      next.accept(EngineAnswer.none(why));
    }
  }

  /** Returns whether the response was received or is no longer wanted. */
  public boolean over() {
    return over;
  }

  /** Disables replays, so that the body is released once it is written. */
  void onlyOnce() {
    writer.onlyOnce();
  }

  /** Cancels the call. */
  public void cancel(String errorType) {
    if (!over) {
      cancel();
      trace.failed(errorType);
    }
  }

  @Override
  public void cancel() {
    if (!over) {
      stop();
      body.release();
      super.cancel();
    }
  }

  private void stop() {
    over = true;
    writer.release();
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  @Override
  protected void connected() {
    if (!writer.send(this)) {
      // The idle connection was dead, and the body was not kept for a replay.
      giveUp(new UpstreamFailure(Kind.RESET, "the connection ended before the answer"));
    }
  }

  @Override
  protected void drained() {
    writer.resume();
  }

  @Override
  protected void head(HttpResponse answer) {
    ForwardedHeaders.fromEngine(answer);
    answer.headers().remove(HttpHeaderNames.TRANSFER_ENCODING);
    head = answer;
  }

  @Override
  protected void content(ByteBuf content) {
    if (!over) {
      if ((long) body.length() + content.readableBytes() > limit) {
        giveUp(new UpstreamFailure(Kind.GARBAGE, "the answer is too large"));
      } else if (!body.append(content)) {
        giveUp(UpstreamFailure.noRoom());
      }
    }
    content.release();
  }

  @Override
  protected void ended(HttpHeaders trailers) {
    if (!over && head != null) {
      stop();
      int status = head.status().code();
      trace.answered(status);
      trace.end();
      next.accept(EngineAnswer.of(status, head.headers(), body));
    }
  }

  @Override
  protected void failed(UpstreamFailure failure) {
    giveUp(failure);
  }
}
