package io.inferspan.pd.request;

import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.metrics.SidecarMetrics;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.ClientAnswer;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.relay.Offload;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request from its arrival to its end, which comes once: answered, failed or left by the client.
 *
 * <p>The end closes the span and counts the request.
 */
public abstract sealed class LiveRequest implements Offload, ClientExchange.Owner
    permits PdRequest {
  /** To scan so much takes about a millisecond. */
  private static final int LARGE_BODY_BYTES = 1 << 20;

  private static final Logger LOGGER = System.getLogger("io.inferspan.pd");
  private static final String DECODE_FAILED = "decode request failed";
  private static final Reason CLIENT_GONE =
      new Reason("client_disconnected", "the client went away");
  private static final Reason MALFORMED =
      new Reason("malformed_request", "the rest of the request is not well-formed HTTP");
  private static final Reason INTERNAL_ERROR =
      new Reason("internal_error", "the proxy failed over this request");
  static final Reason SHUTDOWN =
      new Reason("shutdown", "the proxy stopped before the answer was complete");

  private final ClientExchange exchange;
  private final ProxyParts parts;
  private Decision decision;
  private final RequestTrace trace;
  private final ClientAnswer answer;
  private final List<Runnable> whenGone = new ArrayList<>(2);
  private @Nullable Runnable whenEnded;
  private @Nullable HeldBody held;
  private Reason givenUpBecause = CLIENT_GONE;
  private boolean ended;

  /**
   * The reason for cancelling the stages of a request.
   *
   * @param type the {@code error.type} on their spans
   * @param text a description
   */
  public record Reason(String type, String text) {}

  LiveRequest(ClientExchange exchange, ProxyParts parts, Decision decision, RequestTrace trace) {
    this.exchange = exchange;
    this.parts = parts;
    this.decision = decision;
    this.trace = trace;
    this.answer =
        new ClientAnswer(exchange, trace, parts.metrics(), decision.api() != Api.PASSTHROUGH);
  }

  final void begin() {
    metrics().requestArrived(api(), trace.spanContext());
    metrics().requestEntered();
    exchange.ownedBy(this);
  }

  public final ClientExchange exchange() {
    return exchange;
  }

  /** Returns the answer to the client. */
  public final ClientAnswer answer() {
    return answer;
  }

  /** Returns what all requests share. */
  public final ProxyParts parts() {
    return parts;
  }

  /** Sets where its stages run. */
  public final void decided(Decision chosen) {
    decision = chosen;
  }

  /** Returns the pods of its stages. */
  public final Decision decision() {
    return decision;
  }

  /** Returns the requested API. */
  public final Api api() {
    return decision.api();
  }

  public final RequestTrace trace() {
    return trace;
  }

  public final SidecarMetrics metrics() {
    return parts.metrics();
  }

  /** Returns the settings. */
  public final SidecarConfig config() {
    return parts.config();
  }

  /** The loop that this request lives on. */
  public final EventLoop loop() {
    return exchange.loop();
  }

  /** The budget of all bodies. */
  public final HeldBodies bodies() {
    return parts.heldBodies();
  }

  /** Takes the request's body over, which is held as long as a stage is to come. */
  public final void hold(HeldBody incoming) {
    held = incoming;
  }

  /** Returns the holder of the body; null if it has been released. */
  final @Nullable HeldBody held() {
    return held;
  }

  /**
   * Returns the holder of the body, which the caller must release; null if it has been released.
   */
  final @Nullable HeldBody retainBody() {
    return held == null ? null : held.retain();
  }

  /** No other stage is to come; those under way hold the body themselves. */
  final void releaseBody() {
    if (held != null) {
      held.release();
      held = null;
    }
  }

  /** Adds an action for when the client disconnects or the stages are cancelled. */
  public final void whenGone(Runnable action) {
    whenGone.add(action);
  }

  /** Removes the action of a stage that has ended, and releases what it holds. */
  public final void over(Runnable action) {
    whenGone.remove(action);
  }

  /** Sets what runs once the request has ended, for a stage that outlives it. */
  final void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /** Cancels the stages that still run: one of them has failed, so the others are of no use. */
  public final void giveUp(Reason reason) {
    givenUpBecause = reason;
    cancelStages();
  }

  /** Returns why the stages are cancelled. */
  public final Reason givenUpBecause() {
    return givenUpBecause;
  }

  private void cancelStages() {
    List.copyOf(whenGone).forEach(Runnable::run);
  }

  /** The client has its whole answer. */
  public final void delivered() {
    end(answer.status());
  }

  /** Gives the client an answer as it is. */
  public final void deliver(EngineAnswer given) {
    if (given.failure() != null && given.failure().kind() == Kind.NO_ROOM) {
      metrics().noRoomForBody();
    }
    exchange.respond(HttpResponseStatus.valueOf(given.status()), given.headers(), given.content());
    end(given.status());
  }

  /** Answers in place of the engines; the span says why. */
  public final void refuse(EngineAnswer given, String errorType, String why) {
    failed();
    trace.fail(errorType, why);
    deliver(given);
  }

  /** Counts a failure that belongs to no stage. */
  public final void failed() {
    metrics().stageFailed(Stage.REQUEST, trace.spanContext());
  }

  /**
   * Handles a broken decoder: reports its error before the response has begun, later resets the
   * client.
   */
  public final void decoderFailed(UpstreamFailure failure) {
    if (exchange.answerBegun()) {
      breakOff(failure.type());
    } else {
      trace.fail(failure.type(), DECODE_FAILED);
      deliver(EngineAnswer.noDecoder(failure));
    }
  }

  /** The decoder failed so late that the client sees no other sign of it than a reset. */
  public final void breakOff(String type) {
    trace.fail(type, DECODE_FAILED);
    exchange.abort();
    end(answer.status());
  }

  /** Runs a step of the request; a failure is reported to the client and ends the request. */
  public final void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | OutOfMemoryError e) {
      fault(e);
    }
  }

  @Override
  public final <T> void compute(HeldBody large, Supplier<T> task, Consumer<? super T> next) {
    if (large.length() < LARGE_BODY_BYTES) {
      next.accept(task.get());
      return;
    }
    large.retain();
    parts
        .workers()
        .execute(
            () -> {
              Runnable step = computed(task, next);
              loop()
                  .execute(
                      () -> {
                        step.run();
                        large.release();
                      });
            });
  }

  private <T> Runnable computed(Supplier<T> task, Consumer<? super T> next) {
    try {
      T result = task.get();
      return () -> {
        if (!ended) {
          guard(() -> next.accept(result));
        }
      };
    } catch (RuntimeException | OutOfMemoryError e) {
      return () -> fault(e);
    }
  }

  private void fault(Throwable cause) {
    String traceId = trace.spanContext().getTraceId();
    LOGGER.log(Level.WARNING, "A request failed inside the proxy, trace_id=" + traceId, cause);
    if (ended) {
      return;
    }
    failed();
    trace.fail(INTERNAL_ERROR.type(), INTERNAL_ERROR.text());
    giveUp(INTERNAL_ERROR);
    if (exchange.answerBegun()) {
      exchange.abort();
      end(answer.status());
    } else {
      deliver(
          EngineAnswer.error(
              HttpResponseStatus.INTERNAL_SERVER_ERROR,
              "InternalServerError",
              INTERNAL_ERROR.text()));
    }
  }

  @Override
  public final void clientGone() {
    trace.fail(CLIENT_GONE.type(), "the client went away before its answer was complete");
    cancelStages();
    end(answer.status());
  }

  @Override
  public final void malformed(int toldStatus) {
    failed();
    trace.fail(MALFORMED.type(), MALFORMED.text());
    giveUp(MALFORMED);
    end(toldStatus > 0 ? toldStatus : answer.status());
  }

  @Override
  public final void cut() {
    failed();
    trace.fail(SHUTDOWN.type(), SHUTDOWN.text());
    giveUp(SHUTDOWN);
    exchange.abort();
    end(answer.status());
  }

  /** Returns whether the request has ended, so that no work is left. */
  public final boolean ended() {
    return ended;
  }

  private void end(int answeredStatus) {
    if (ended) {
      return;
    }
    ended = true;
    releaseBody();
    metrics()
        .stageEnded(Stage.REQUEST, System.nanoTime() - trace.arrivedNanos(), trace.spanContext());
    metrics().requestLeft();
    trace.end(answeredStatus, answer.ended());
    whenGone.clear();
    if (whenEnded != null) {
      whenEnded.run();
    }
  }
}
