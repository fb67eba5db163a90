package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A call whose answer is gathered whole, up to a limit; an answer beyond it counts as none. */
public abstract class AnswerCollector extends EngineCall {
  private final HeldBody body;
  private final long limit;
  private @Nullable HttpResponse head;
  private @Nullable ScheduledFuture<?> deadline;
  private boolean over;

  /**
   * A call that is yet to start, and that may be replayed.
   *
   * @param body takes the bytes of the answer
   */
  protected AnswerCollector(HeldBody body, long limit, boolean replayable) {
    super(replayable);
    this.body = body;
    this.limit = limit;
  }

  /** Takes the answer, whose body it releases; once, but not of a call that was cancelled. */
  protected abstract void take(EngineAnswer answer);

  /** Ends the call if it takes longer; zero for never. */
  public final void endAfter(EventLoop loop, Duration time) {
    if (!over && !time.isZero()) {
      deadline =
          loop.schedule(
              () -> giveUp(UpstreamException.overdue()), time.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Ends the call with a failure in place of an answer. */
  protected final void giveUp(UpstreamException why) {
    if (!over) {
      cancel();
      take(EngineAnswer.none(why));
    }
  }

  /** Returns whether the response was received or is no longer wanted. */
  public final boolean over() {
    return over;
  }

  @Override
  protected final void head(HttpResponse answer) {
    ForwardedHeaders.fromEngine(answer);
    answer.headers().remove(HttpHeaderNames.TRANSFER_ENCODING);
    head = answer;
  }

  @Override
  protected final void content(ByteBuf content) {
    if (!over) {
      if ((long) body.length() + content.readableBytes() > limit) {
        giveUp(UpstreamException.tooLarge());
      } else if (!body.append(content)) {
        giveUp(UpstreamException.noRoom());
      }
    }
    content.release();
  }

  @Override
  protected final void ended(HttpHeaders trailers) {
    if (!over && head != null) {
      stop();
      take(EngineAnswer.of(head.status().code(), head.headers(), body));
    }
  }

  @Override
  protected final void failed(UpstreamException failure) {
    giveUp(failure);
  }

  private void stop() {
    over = true;
    if (deadline != null) {
      deadline.cancel(false);
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
}
