package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.ForwardedHeaders;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
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
  private final CallTrace trace;
  private final Consumer<EngineAnswer> next;
  private @Nullable HttpResponse head;
  private @Nullable ScheduledFuture<?> deadline;
  private boolean over;

  /**
   * Creates a call that has not started.
   *
   * @param held the holder of the bytes of {@code sent}, which this call releases; the response is
   *     counted in the same budget
   * @param next receives the response once and releases its body; not called after a cancellation
   */
  public BufferedCall(
      HttpRequest head,
      JsonPieces sent,
      HeldBody held,
      long limit,
      CallTrace trace,
      Consumer<EngineAnswer> next) {
    super(head, sent, held);
    this.body = held.bodies().open();
    this.limit = limit;
    this.trace = trace;
    this.next = next;
  }

  /**
   * Creates a call for a request, whose body it holds; the response is passed to {@code next}
   * unless the request fails meanwhile.
   */
  public static BufferedCall of(
      PdRequest request,
      HttpRequest head,
      JsonPieces sent,
      CallTrace trace,
      Consumer<EngineAnswer> next) {
    return new BufferedCall(
        head,
        sent,
        request.body().held().retain(),
        request.config().get(Settings.BODY_LIMIT),
        trace,
        answer -> request.guard(() -> next.accept(answer)));
  }

  /** Sets a timeout for the call; zero for none. */
  public void endAfter(EventLoop loop, Duration time) {
    if (!over && !time.isZero()) {
      deadline = loop.schedule(this::expire, time.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

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

  /** Returns whether the response was received, or the call was cancelled. */
  public boolean over() {
    return over;
  }

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
    if (deadline != null) {
      deadline.cancel(false);
    }
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
