package io.inferspan.pd.stage;

import io.inferspan.pd.config.SidecarConfig.Prefill;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.AnswerCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.tracing.Dispatch;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.semconv.PdAttributes;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs prefill on another pod. */
final class PrefillStage {
  private static final int BAD_GATEWAY = 502;
  private static final int GATEWAY_TIMEOUT = 504;

  private final LiveRequest live;
  private final ProxyParts parts;
  private final Target target;
  private final Dispatch dispatch;
  private final HttpRequest head;
  private final StageTrace trace;
  private final StageRun counted;
  private final Promise<EngineAnswer> answered = Promise.promise();
  private final Runnable releaseBody;
  private @Nullable StageBody body;
  private @Nullable UpstreamCall call;
  private @Nullable CallTrace callTrace;
  private @Nullable ScheduledFuture<?> lingering;
  private int retriesLeft;
  private boolean written;
  private boolean over;

  PrefillStage(LiveRequest live, ProxyParts parts, Target target, PrefillLeg leg) {
    this.live = live;
    this.parts = parts;
    this.target = target;
    this.dispatch = leg.dispatch();
    this.body = leg.body();
    this.releaseBody = live.retainBody();
    this.head = StageCall.head(live.exchange(), leg.body(), leg.headers());
    this.retriesLeft = dispatch == Dispatch.SERIAL ? policy().maxRetries() : 0;
    this.trace = live.trace().prefill(dispatch);
    trace.set(PdAttributes.BOOTSTRAP_ROOM, leg.room());
    this.counted = live.begin(Stage.PREFILL, trace.spanContext());
  }

  private Prefill policy() {
    return parts.config().prefill();
  }

  Future<EngineAnswer> run() {
    trace.set(PdAttributes.PREFILL_TARGET, target.authority());
    if (dispatch == Dispatch.DETACHED) {
      live.whenEnded(this::linger);
    } else {
      live.whenGone(this::cancel);
    }
    attempt();
    return answered.future();
  }

  private void attempt() {
    ClientExchange exchange = live.exchange();
    callTrace = trace.call("POST", target.host(), target.port(), head.headers());
    AnswerCollector collector =
        new AnswerCollector(parts.config().limits().bodyBytes(), this::send, this::take);
    // Prefilling twice does no harm, so a connection that died unused is no reason to fail.
    call = parts.engines().prefillers().call(exchange.loop(), target, true, collector);
  }

  private void send(UpstreamCall connected) {
    StageBody sent = body;
    if (sent == null) {
      // Written over an idle connection that was dead, and not kept for a second time.
      connected.cancel();
      take(EngineAnswer.none(UpstreamException.bodyGone()));
      return;
    }
    StageCall.write(connected, head, sent);
    written = true;
    if (live.ended()) {
      letGoOfBody();
    }
  }

  /** The request has ended before its detached prefill: that goes on, but holds little. */
  private void linger() {
    if (over) {
      return;
    }
    if (live.givenUpBecause().equals(LiveRequest.SHUTDOWN)) {
      cancel();
      return;
    }
    if (written) {
      letGoOfBody();
    }
    long millis = policy().lingerTimeout().toMillis();
    lingering = live.exchange().loop().schedule(this::overdue, millis, TimeUnit.MILLISECONDS);
  }

  private void overdue() {
    if (!over) {
      if (call != null) {
        call.cancel();
      }
      take(EngineAnswer.none(UpstreamException.overdue()));
    }
  }

  private void take(EngineAnswer answer) {
    if (over) {
      return;
    }
    endCall(answer);
    if (retriesLeft > 0 && answer.status() >= BAD_GATEWAY && answer.status() <= GATEWAY_TIMEOUT) {
      retriesLeft--;
      live.exchange()
          .loop()
          .schedule(this::again, policy().retryBackoff().toMillis(), TimeUnit.MILLISECONDS);
    } else {
      finish(answer);
    }
  }

  private void again() {
    if (!over) {
      attempt();
    }
  }

  private void endCall(EngineAnswer answer) {
    if (callTrace != null) {
      if (answer.failure() == null) {
        callTrace.answered(answer.status());
        callTrace.end();
      } else {
        callTrace.failed(LiveRequest.errorType(answer.failure()));
      }
    }
  }

  private void finish(EngineAnswer answer) {
    end();
    if (answer.ok()) {
      counted.ended();
    } else {
      counted.failed();
      trace.fail(
          answer.failure() == null
              ? Integer.toString(answer.status())
              : LiveRequest.errorType(answer.failure()),
          "prefill request failed");
    }
    trace.endPrefill(answer.status());
    live.guard(() -> answered.complete(answer));
  }

  private void end() {
    over = true;
    letGoOfBody();
    if (lingering != null) {
      lingering.cancel(false);
    }
  }

  private void letGoOfBody() {
    if (body != null) {
      body = null;
      releaseBody.run();
    }
  }

  private void cancel() {
    if (!over) {
      LiveRequest.Reason reason = live.givenUpBecause();
      end();
      if (call != null) {
        call.cancel();
      }
      if (callTrace != null) {
        callTrace.failed(reason.type());
      }
      trace.fail(reason.type(), reason.text());
      trace.endPrefill(0);
    }
  }
}
