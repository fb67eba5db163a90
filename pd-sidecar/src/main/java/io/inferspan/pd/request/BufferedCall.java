package io.inferspan.pd.request;

import io.inferspan.pd.relay.AnswerCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.upstream.UpstreamException;
import java.util.function.Consumer;

/** A call of a request to an engine, whose whole answer the proxy takes for itself. */
public final class BufferedCall extends AnswerCollector {
  private final PdRequest request;
  private final RequestWriter writer;
  private final CallTrace trace;
  private final Consumer<EngineAnswer> next;

  BufferedCall(
      PdRequest request,
      RequestWriter writer,
      CallTrace trace,
      boolean replayable,
      Consumer<EngineAnswer> next) {
    super(request.bodies().open(), request.limits().bodyBytes(), replayable);
    this.request = request;
    this.writer = writer;
    this.trace = trace;
    this.next = next;
  }

  @Override
  protected void connected() {
    if (!writer.send(this)) {
      // Written over an idle connection that was dead, and not kept for a second time.
      giveUp(UpstreamException.bodyGone());
    }
  }

  @Override
  protected void drained() {
    writer.resume();
  }

  @Override
  protected void take(EngineAnswer answer) {
    writer.release();
    if (answer.failure() == null) {
      trace.answered(answer.status());
      trace.end();
    } else {
      trace.failed(answer.errorType());
    }
    request.guard(() -> next.accept(answer));
  }

  /** The request is not sent again: its body is released once it is written. */
  void onlyOnce() {
    writer.onlyOnce();
  }

  /** Ends the call with a time-out in place of an answer. */
  void expire() {
    giveUp(UpstreamException.overdue());
  }

  /** Ends the call: its answer is not wanted any more. */
  public void cancel(String errorType) {
    if (!over()) {
      cancel();
      writer.release();
      trace.failed(errorType);
    }
  }
}
