package io.inferspan.pd.connector.moriio;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.relay.Gate;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageRun;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Prefill and decode of one request, sent at once: the client gets nothing of decode's answer
 * before prefill has succeeded, and prefill's own answer where it fails.
 */
public final class ParallelDispatch implements Gate {
  private static final LiveRequest.Reason PREFILL_FAILED =
      new LiveRequest.Reason("prefill_failed", "prefill failed meanwhile");
  private static final LiveRequest.Reason WAITED_TOO_LONG =
      new LiveRequest.Reason("timeout", "prefill did not answer in time");
  private static final String TIMEOUT_BODY =
      "{\"error\":\"decode aborted: prefill did not complete within the MoRI-IO"
          + " parallel-dispatch KV-wait timeout\"}";

  /** What decode has to say does not matter before prefill has answered. */
  private static final long MOST_HELD_BYTES = 256 << 10;

  private final PdRequest request;
  private final StageRun waiting;
  private Verdict verdict = Verdict.WAIT;

  private ParallelDispatch(PdRequest request) {
    this.request = request;
    LiveRequest live = request.live();
    this.waiting = live.begin(Stage.PREFILL, live.trace().spanContext());
  }

  /** Sends both; prefill has to answer within {@code patience}. */
  public static void start(
      PdRequest request, PrefillLeg prefill, DecodeLeg decode, Duration patience) {
    new ParallelDispatch(request).start(prefill, decode, patience);
  }

  private void start(PrefillLeg prefill, DecodeLeg decode, Duration patience) {
    Future<EngineAnswer> prefilled = request.prefill(prefill);
    Runnable askAgain = request.decodeWhole(decode.gated(this, () -> {}));
    ScheduledFuture<?> backstop =
        request.loop().schedule(this::giveUp, patience.toMillis(), TimeUnit.MILLISECONDS);
    request.live().whenGone(() -> backstop.cancel(false));
    prefilled.onSuccess(
        answer -> {
          backstop.cancel(false);
          prefilled(answer, askAgain);
        });
  }

  @Override
  public Verdict look(HttpResponse head, ByteBuf body, boolean complete) {
    return verdict;
  }

  @Override
  public long mostHeldBytes(long limit) {
    return Math.min(limit, MOST_HELD_BYTES);
  }

  private void prefilled(EngineAnswer answer, Runnable askAgain) {
    if (request.gone()) {
      return;
    }
    if (answer.ok()) {
      verdict = Verdict.PASS;
      askAgain.run();
    } else {
      request.live().giveUp(PREFILL_FAILED);
      request.deliver(answer);
    }
  }

  private void giveUp() {
    if (request.gone()) {
      return;
    }
    LiveRequest live = request.live();
    live.giveUp(WAITED_TOO_LONG);
    // Prefill itself was given up just now, which it does not count.
    waiting.failed();
    live.trace().fail(WAITED_TOO_LONG.type(), WAITED_TOO_LONG.text());
    request.deliver(
        new EngineAnswer(
            HttpResponseStatus.GATEWAY_TIMEOUT.code(),
            new DefaultHttpHeaders()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON),
            TIMEOUT_BODY.getBytes(UTF_8),
            null));
  }
}
