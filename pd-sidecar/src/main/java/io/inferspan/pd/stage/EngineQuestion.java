package io.inferspan.pd.stage;

import io.inferspan.pd.relay.AnswerCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import org.jspecify.annotations.Nullable;

/** A question to an engine whose whole answer the proxy wants for itself. */
public final class EngineQuestion {
  private final HttpRequest head;
  private final StageBody body;
  private final CallTrace trace;
  private final long answerLimit;
  private final LiveRequest live;
  private final Promise<EngineAnswer> answered = Promise.promise();
  private @Nullable UpstreamCall call;
  private boolean over;

  EngineQuestion(
      LiveRequest live, HttpRequest head, StageBody body, CallTrace trace, long answerLimit) {
    this.live = live;
    this.head = head;
    this.body = body;
    this.trace = trace;
    this.answerLimit = answerLimit;
  }

  EngineQuestion ask(EventLoop loop, Upstreams engines, Target target, boolean replayable) {
    AnswerCollector collector =
        new AnswerCollector(
            answerLimit, connected -> StageCall.write(connected, head, body), this::take);
    call = engines.call(loop, target, replayable, collector);
    return this;
  }

  /** The answer, whose status tells; after {@link #cancel} it never completes. */
  public Future<EngineAnswer> answer() {
    return answered.future();
  }

  private void take(EngineAnswer answer) {
    if (over) {
      return;
    }
    over = true;
    if (answer.failure() == null) {
      trace.answered(answer.status());
      trace.end();
    } else {
      trace.failed(LiveRequest.errorType(answer.failure()));
    }
    live.guard(() -> answered.complete(answer));
  }

  /** Gives the question up: nobody wants the answer any more. */
  public void cancel(String errorType) {
    if (!over) {
      over = true;
      if (call != null) {
        call.cancel();
      }
      trace.failed(errorType);
    }
  }
}
