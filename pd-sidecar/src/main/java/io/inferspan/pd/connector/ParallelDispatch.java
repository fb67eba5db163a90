package io.inferspan.pd.connector;

import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.Gate;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.telemetry.StageRun;
import io.inferspan.pd.upstream.EngineAnswer;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Sends prefill and decode of a request concurrently. The client gets decode's response only after
 * prefill has succeeded. If prefill fails, the client gets prefill's response; if prefill does not
 * respond in time, a 504.
 */
public final class ParallelDispatch implements Gate {
  private static final PdRequest.Reason PREFILL_FAILED =
      new PdRequest.Reason("prefill_failed", "prefill failed meanwhile");
  private static final PdRequest.Reason WAITED_TOO_LONG =
      new PdRequest.Reason("timeout", "prefill did not answer in time");
  private static final String TIMEOUT_BODY =
      "{\"error\":\"decode aborted: prefill did not complete within the MoRI-IO"
          + " parallel-dispatch KV-wait timeout\"}";

  /** The maximum number of bytes of decode's response to read before prefill has responded. */
  private static final long MAX_HELD_BYTES = 256 << 10;

  private final PdRequest request;
  private final StageRun waiting;
  private Verdict verdict = Verdict.WAIT;
  private Runnable recheck = () -> {};

  private ParallelDispatch(PdRequest request) {
    this.request = request;
    this.waiting = request.metrics().begin(Stage.PREFILL, request.trace().spanContext());
  }

  /** Sends both requests; prefill must respond within {@code timeout}. */
  public static void start(
      PdRequest request, PrefillLeg prefill, DecodeLeg decode, Duration timeout) {
    new ParallelDispatch(request).start(prefill, decode, timeout);
  }

  private void start(PrefillLeg prefill, DecodeLeg decode, Duration timeout) {
    ScheduledFuture<?> backstop =
        request.loop().schedule(this::giveUp, timeout.toMillis(), TimeUnit.MILLISECONDS);
    request.whenGone(() -> backstop.cancel(false));
    request.ask(
        prefill,
        answer -> {
          backstop.cancel(false);
          prefilled(answer);
        });
    if (!request.ended()) {
      recheck = request.streamWhole(decode.gated(this));
      recheck.run();
    }
  }

  @Override
  public Verdict look(HttpResponse head, HeldBody body, Progress progress) {
    return verdict;
  }

  @Override
  public long maxHeldBytes(long limit) {
    return Math.min(limit, MAX_HELD_BYTES);
  }

  private void prefilled(EngineAnswer answer) {
    if (request.ended()) {
      return;
    }
    if (answer.ok()) {
      verdict = Verdict.PASS;
      recheck.run();
    } else {
      request.giveUp(PREFILL_FAILED);
      request.deliver(answer);
    }
  }

  private void giveUp() {
    if (request.ended()) {
      return;
    }
    request.giveUp(WAITED_TOO_LONG);
    // Cancelling prefill does not count as a failure, but this timeout does.
    waiting.failed();
    request.trace().fail(WAITED_TOO_LONG.type(), WAITED_TOO_LONG.text());
    request.deliver(
        EngineAnswer.own(
            HttpResponseStatus.GATEWAY_TIMEOUT,
            new DefaultHttpHeaders()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON),
            TIMEOUT_BODY));
  }
}
