package io.inferspan.pd.request;

import io.inferspan.pd.config.Setting;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.telemetry.Dispatch;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.telemetry.StageRun;
import io.inferspan.pd.telemetry.StageTrace;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.ForwardedHeaders;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.semconv.PdAttributes;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs prefill on another pod: one call, or several if it fails and retries are configured. */
final class PrefillStage {
  private static final int BAD_GATEWAY = 502;
  private static final int GATEWAY_TIMEOUT = 504;

  private final PdRequest request;
  private final Dispatch dispatch;

  /** Null when no retry is possible, so that its body is freed before the response arrives. */
  private @Nullable PrefillLeg leg;

  private final Target target;
  private final Consumer<EngineAnswer> next;
  private final SidecarConfig config;
  private final StageTrace trace;
  private final StageRun counted;
  private final Runnable cancelling = this::cancel;
  private @Nullable EngineCall call;
  private @Nullable ScheduledFuture<?> deadline;
  private int retriesLeft;
  private boolean over;

  PrefillStage(PdRequest request, PrefillLeg leg, Consumer<EngineAnswer> next) {
    this.request = request;
    this.leg = leg;
    this.dispatch = leg.dispatch();
    this.target = request.prefiller();
    this.next = next;
    this.config = request.config();
    this.trace = request.trace().prefill(dispatch);
    trace.set(PdAttributes.BOOTSTRAP_ROOM, leg.room());
    trace.set(PdAttributes.PREFILL_TARGET, target.authority());
    this.counted = request.metrics().begin(Stage.PREFILL, trace.spanContext());
  }

  void run() {
    if (dispatch == Dispatch.DETACHED) {
      request.whenEnded(this::linger);
    } else {
      request.whenGone(cancelling);
    }
    if (dispatch == Dispatch.SERIAL) {
      retriesLeft = config.get(Settings.PREFILL_MAX_RETRIES);
      if (!config.get(Settings.PREFILL_TIMEOUT).isZero()) {
        endAfter(Settings.PREFILL_TIMEOUT);
      }
    }
    attempt();
  }

  private void attempt() {
    PrefillLeg sent = leg;
    if (over || sent == null) {
      return;
    }
    HttpRequest client = request.exchange().request();
    HttpRequest head = ForwardedHeaders.forBody(client, sent.body().length(), sent.headers());
    CallTrace callTrace = trace.call("POST", target.host(), target.port(), head.headers());
    leg = retriesLeft > 0 ? sent : null;
    // Prefilling twice is harmless, so the request is retried if an idle connection was dead.
    call = request.body().call(head, sent.body(), callTrace, this::take);
    call.allowReplay();
    request.parts().prefillers().start(request.loop(), target, call);
  }

  /** Continues a detached prefill after the end of its request, with little memory. */
  private void linger() {
    if (over) {
      return;
    }
    if (request.givenUpBecause().equals(PdRequest.SHUTDOWN)) {
      cancel();
      return;
    }
    if (call != null) {
      call.onlyOnce();
    }
    endAfter(Settings.PREFILL_LINGER_TIMEOUT);
  }

  private void endAfter(Setting<Duration> time) {
    deadline = schedule(this::expire, time);
  }

  private ScheduledFuture<?> schedule(Runnable step, Setting<Duration> delay) {
    return request.loop().schedule(step, config.get(delay).toMillis(), TimeUnit.MILLISECONDS);
  }

  private void expire() {
    retriesLeft = 0;
    if (call != null) {
      call.expire();
    }
    if (!over) {
      // There is no call at the moment, because a retry was scheduled.
      request.guard(() -> take(EngineAnswer.none(UpstreamFailure.overdue())));
    }
  }

  private void take(EngineAnswer answer) {
    if (retriesLeft > 0 && answer.status() >= BAD_GATEWAY && answer.status() <= GATEWAY_TIMEOUT) {
      retriesLeft--;
      answer.release();
      schedule(() -> request.guard(this::attempt), Settings.PREFILL_RETRY_BACKOFF);
    } else {
      finish(answer);
    }
  }

  private void finish(EngineAnswer answer) {
    answer.heldBy(request.held());
    end();
    if (answer.ok()) {
      counted.ended();
    } else {
      counted.failed();
      trace.fail(answer.errorType(), "prefill request failed");
    }
    trace.endPrefill(answer.status());
    next.accept(answer);
  }

  private void end() {
    over = true;
    request.over(cancelling);
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  private void cancel() {
    if (!over) {
      PdRequest.Reason reason = request.givenUpBecause();
      end();
      if (call != null) {
        call.cancel(reason.type());
      }
      trace.fail(reason.type(), reason.text());
      trace.endPrefill(0);
    }
  }
}
