package io.inferspan.pd.encode;

import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.stage.EngineQuestion;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.StageRun;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;

/**
 * The calls of an encode stage, which run side by side.
 *
 * <p>The first that fails ends the others, and the client is answered 502.
 */
public final class EncoderCalls {
  /** One body may name more items than there are connections to be had. */
  static final int MOST_AT_ONCE = 128;

  private final PdRequest request;
  private final int count;
  private final IntFunction<EngineQuestion> ask;
  private final ObjIntConsumer<EngineAnswer> keep;
  private final StageRun counted;
  private final Set<EngineQuestion> open = new LinkedHashSet<>();
  private Runnable done = () -> {};
  private int asked;
  private int answered;
  private boolean over;

  /**
   * Calls to come.
   *
   * @param ask begins the call with this index, of {@code count}
   * @param keep takes the answer to the call with this index
   */
  public EncoderCalls(
      PdRequest request,
      int count,
      IntFunction<EngineQuestion> ask,
      ObjIntConsumer<EngineAnswer> keep) {
    this.request = request;
    this.count = count;
    this.ask = ask;
    this.keep = keep;
    this.counted = request.live().begin(Stage.ENCODE, request.trace().spanContext());
  }

  /** Begins; {@code whenDone} runs once all are answered well. */
  public void run(Runnable whenDone) {
    done = whenDone;
    request.live().whenGone(() -> cancel(request.live().givenUpBecause().type()));
    while (!over && asked < Math.min(count, MOST_AT_ONCE)) {
      askNext();
    }
  }

  private void askNext() {
    int index = asked++;
    EngineQuestion question = ask.apply(index);
    open.add(question);
    question.answer().onSuccess(answer -> take(question, index, answer));
  }

  private void take(EngineQuestion question, int index, EngineAnswer answer) {
    open.remove(question);
    if (over) {
      return;
    }
    if (!answer.ok()) {
      fail(answer);
      return;
    }
    keep.accept(answer, index);
    answered++;
    if (answered == count) {
      finish();
    } else if (asked < count) {
      askNext();
    }
  }

  private void finish() {
    over = true;
    counted.ended();
    done.run();
  }

  private void fail(EngineAnswer answer) {
    cancel("cancelled");
    counted.failed();
    String type =
        answer.failure() == null
            ? Integer.toString(answer.status())
            : LiveRequest.errorType(answer.failure());
    request.trace().fail(type, "encode request failed");
    request.deliver(
        new EngineAnswer(
            HttpResponseStatus.BAD_GATEWAY.code(), new DefaultHttpHeaders(), new byte[0], null));
  }

  private void cancel(String errorType) {
    over = true;
    List.copyOf(open).forEach(question -> question.cancel(errorType));
    open.clear();
  }
}
