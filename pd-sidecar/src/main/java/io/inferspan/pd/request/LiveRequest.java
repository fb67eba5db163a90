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
 * A request from its arrival to its end. It ends once: answered, failed, or abandoned by the
 * client.
 *
 * <p>The end closes the span and counts the request.
 */
public abstract sealed class LiveRequest implements Offload, ClientExchange.Owner
    permits PdRequest {
  /** Scanning this many bytes takes about a millisecond. */
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

  /** Returns the objects that all requests share. */
  public final ProxyParts parts() {
    return parts;
  }

  /** Sets the pods of its stages. */
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

  /** Returns the event loop of this request. */
  public final EventLoop loop() {
    return exchange.loop();
  }

  /** Returns the memory budget of all bodies. */
  public final HeldBodies bodies() {
    return parts.heldBodies();
  }

  /** Takes ownership of the request's body, which is held until no more stages follow. */
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

  /** Releases the body because no more stages follow; running stages hold it themselves. */
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

  /** Removes the action of a stage that has ended, so that its objects can be freed. */
  public final void over(Runnable action) {
    whenGone.remove(action);
  }

  /** Sets an action for the end of the request, for a stage that outlives it. */
  final void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /** Cancels the running stages, because one of them has failed. */
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

  /** Ends the request after the client received the whole response. */
  public final void delivered() {
    end(answer.status());
  }

  /** Sends a response to the client. */
  public final void deliver(EngineAnswer given) {
    if (given.failure() != null && given.failure().kind() == Kind.NO_ROOM) {
      metrics().noRoomForBody();
    }
    exchange.respond(HttpResponseStatus.valueOf(given.status()), given.headers(), given.content());
    end(given.status());
  }

  /** Answers the client without an engine, and records the reason on the span. */
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

  /** Resets the client, because the decoder failed after the response had begun. */
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
