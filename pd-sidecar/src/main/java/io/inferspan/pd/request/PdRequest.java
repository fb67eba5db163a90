package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.telemetry.Api;
import io.inferspan.pd.telemetry.RequestTrace;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request from its arrival to its end, and the calls that serve it.
 *
 * <p>A connector {@linkplain #ask asks} for a prefill and {@linkplain #stream streams} a decode.
 * The request ends exactly once: with a response, with a failure, or because the client
 * disconnects. Then its span ends and it is counted. It runs on one event loop.
 */
public final class PdRequest implements ClientExchange.Owner {
  /** Scanning this many bytes takes about a millisecond. */
  private static final int LARGE_BODY_BYTES = 1 << 20;

  private static final Logger LOGGER = System.getLogger("io.inferspan.pd");
  private static final String DECODE_FAILED = "decode request failed";
  private static final Reason CLIENT_GONE =
      new Reason("client_disconnected", "the client disconnected");
  private static final Reason MALFORMED =
      new Reason("malformed_request", "the rest of the request is not well-formed HTTP");
  private static final Reason INTERNAL_ERROR =
      new Reason("internal_error", "the proxy failed to handle this request");
  static final Reason SHUTDOWN =
      new Reason("shutdown", "the proxy stopped before the answer was complete");

  private final ClientExchange exchange;
  private final ProxyParts parts;
  private final Api api;
  private final RequestTrace trace;
  private final ClientAnswer answer;
  private final List<Runnable> whenGone = new ArrayList<>(2);
  private Decision decision = Decision.NONE;
  private @Nullable HeldBody held;
  private @Nullable RequestBody body;
  private @Nullable Consumer<DecodeLeg> decoding;
  private @Nullable Runnable whenEnded;
  private Reason givenUpBecause = CLIENT_GONE;
  private boolean ended;

  /**
   * The reason for cancelling the stages of a request.
   *
   * @param type the {@code error.type} on their spans
   */
  public record Reason(String type, String text) {}

  private PdRequest(ClientExchange exchange, ProxyParts parts, Api api, RequestTrace trace) {
    this.exchange = exchange;
    this.parts = parts;
    this.api = api;
    this.trace = trace;
    this.answer = new ClientAnswer(this, exchange);
  }

  /** Counts an arrived request and ensures that it ends. */
  public static PdRequest begin(
      ClientExchange exchange, ProxyParts parts, Api api, RequestTrace trace) {
    PdRequest request = new PdRequest(exchange, parts, api, trace);
    parts.metrics().requestArrived(api, trace.spanContext());
    parts.metrics().requestEntered();
    exchange.ownedBy(request);
    return request;
  }

  public ClientExchange exchange() {
    return exchange;
  }

  public ClientAnswer answer() {
    return answer;
  }

  public ProxyParts parts() {
    return parts;
  }

  public void decided(Decision chosen) {
    decision = chosen;
  }

  public Decision decision() {
    return decision;
  }

  public Api api() {
    return api;
  }

  public RequestTrace trace() {
    return trace;
  }

  public SidecarMetrics metrics() {
    return parts.metrics();
  }

  public SidecarConfig config() {
    return parts.config();
  }

  public EventLoop loop() {
    return exchange.loop();
  }

  public Target prefiller() {
    return Objects.requireNonNull(decision.prefiller(), "this request has no prefill pod");
  }

  public Target ownDecoder() {
    return parts.decoder(exchange.rank());
  }

  /**
   * Collects and scans the body, then runs {@code next}. The body is held until no more stages
   * follow.
   */
  public void collect(Runnable next) {
    Target pod = decision.prefiller();
    HeldBody incoming = parts.heldBodies().open(pod == null ? null : pod.authority());
    held = incoming;
    body = new RequestBody(this, incoming, next);
    body.collect();
  }

  /** Returns the holder of the body; null if it has been released. */
  @Nullable HeldBody held() {
    return held;
  }

  /** Releases the body because no more stages follow; running stages hold it themselves. */
  void releaseBody() {
    if (held != null) {
      held.release();
      held = null;
    }
  }

  public RequestBody body() {
    return Objects.requireNonNull(body, "the body was not collected yet");
  }

  /** Sets a way to decode other than in one piece, such as in chunks. */
  public void decodedBy(Consumer<DecodeLeg> way) {
    decoding = way;
  }

  /**
   * Runs prefill and passes its response, or its failure, to {@code next}, unless prefill is
   * cancelled. A prefill that runs before decode is retried after a 502, 503 or 504, at most {@code
   * prefill-max-retries} times.
   */
  public void ask(PrefillLeg leg, Consumer<EngineAnswer> next) {
    new PrefillStage(this, leg, next).run();
  }

  /** Scans a body that the caller holds. */
  public void scan(HeldBody holding, Consumer<JsonScan> next) {
    int depth = config().get(Settings.JSON_DEPTH_LIMIT);
    compute(holding, () -> JsonScan.of(holding.join(), depth), next);
  }

  /**
   * Runs decode, in the way that {@link #decodedBy} has set, and passes the response to the client.
   */
  public void stream(DecodeLeg leg) {
    if (decoding == null) {
      streamWhole(leg);
    } else {
      decoding.accept(leg);
    }
  }

  /** Runs decode in one piece; returns an action that checks the leg's gate again. */
  public Runnable streamWhole(DecodeLeg leg) {
    DecodeCall call = DecodeCall.of(this, leg);
    if (leg.gate() == null) {
      releaseBody();
    }
    call.start();
    return call::decide;
  }

  public void pass(Target decoder) {
    new PassthroughCall(this, decoder).start();
  }

  /** Adds an action for when the client disconnects or the stages are cancelled. */
  public void whenGone(Runnable action) {
    whenGone.add(action);
  }

  /** Removes the action of a stage that has ended, so that its objects can be freed. */
  public void over(Runnable action) {
    whenGone.remove(action);
  }

  /** Sets an action for the end of the request, for a stage that outlives it. */
  void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /** Cancels the running stages, because one of them has failed. */
  public void giveUp(Reason reason) {
    givenUpBecause = reason;
    List.copyOf(whenGone).forEach(Runnable::run);
  }

  public Reason givenUpBecause() {
    return givenUpBecause;
  }

  /** Ends the request after the client received the whole response. */
  public void delivered() {
    end(answer.status());
  }

  public void deliver(EngineAnswer given) {
    if (given.failure() != null && given.failure().kind() == Kind.NO_ROOM) {
      metrics().noRoomForBody();
    }
    exchange.respond(HttpResponseStatus.valueOf(given.status()), given.headers(), given.content());
    end(given.status());
  }

  /** Answers the client without an engine, and records the reason on the span. */
  public void refuse(EngineAnswer given, String errorType, String why) {
    failed();
    trace.fail(errorType, why);
    deliver(given);
  }

  /** Answers the client without an engine; {@code why} describes the error on the span. */
  public void refuse(EngineAnswer given, String why) {
    refuse(given, given.errorType(), why);
  }

  public void refuseRank() {
    EngineAnswer empty = EngineAnswer.empty(HttpResponseStatus.BAD_REQUEST);
    refuse(empty, "unknown_rank", "no such data-parallel rank");
  }

  /** Counts a failure that belongs to no stage. */
  public void failed() {
    metrics().stageFailed(Stage.REQUEST, trace.spanContext());
  }

  /**
   * Handles a failure of the decoder: sends an error response, or truncates the client's response
   * if it has begun.
   */
  public void decoderFailed(UpstreamFailure failure) {
    trace.fail(failure.type(), DECODE_FAILED);
    if (exchange.answerBegun()) {
      abort();
    } else {
      deliver(EngineAnswer.noDecoder(failure));
    }
  }

  /** Truncates the client's response, because the decoder failed after it had begun. */
  public void breakOff(String type) {
    trace.fail(type, DECODE_FAILED);
    abort();
  }

  private void abort() {
    exchange.abort();
    end(answer.status());
  }

  /** Runs a step of the request; a failure is reported to the client and ends the request. */
  public void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | OutOfMemoryError e) {
      fault(e);
    }
  }

  /**
   * Runs {@code task} on a worker thread, then passes its result to {@code next} on the event loop.
   * If the request ends while the task runs, {@code next} is not called.
   *
   * @param large the body that the task reads, which is retained meanwhile; if it has less than 1
   *     MiB, both run at once on the calling thread
   */
  public <T> void compute(HeldBody large, Supplier<T> task, Consumer<? super T> next) {
    if (large.length() < LARGE_BODY_BYTES) {
      next.accept(task.get());
      return;
    }
    large.retain();
    CompletableFuture.supplyAsync(task, parts.workers())
        .whenCompleteAsync(
            (result, failure) -> {
              if (failure != null) {
                fault(failure.getCause() == null ? failure : failure.getCause());
              } else if (!ended) {
                guard(() -> next.accept(result));
              }
              large.release();
            },
            loop());
  }

  private void fault(Throwable cause) {
    String traceId = trace.spanContext().getTraceId();
    LOGGER.log(Level.WARNING, "A request failed inside the proxy, trace_id=" + traceId, cause);
    if (ended) {
      return;
    }
    stop(INTERNAL_ERROR);
    if (exchange.answerBegun()) {
      abort();
    } else {
      deliver(EngineAnswer.internalError(INTERNAL_ERROR.text()));
    }
  }

  /** Counts and records a failure of the whole request, and cancels its stages. */
  private void stop(Reason reason) {
    failed();
    trace.fail(reason.type(), reason.text());
    giveUp(reason);
  }

  @Override
  public void clientGone() {
    trace.fail(CLIENT_GONE.type(), "the client disconnected before the response was complete");
    giveUp(givenUpBecause);
    end(answer.status());
  }

  @Override
  public void malformed(int toldStatus) {
    stop(MALFORMED);
    end(toldStatus > 0 ? toldStatus : answer.status());
  }

  @Override
  public void cut() {
    stop(SHUTDOWN);
    abort();
  }

  /** Returns whether the request has ended, so that no work is left. */
  public boolean ended() {
    return ended;
  }

  private void end(int answeredStatus) {
    if (ended) {
      return;
    }
    ended = true;
    releaseBody();
    long nanos = System.nanoTime() - trace.arrivedNanos();
    metrics().stageEnded(Stage.REQUEST, nanos, trace.spanContext());
    metrics().requestLeft();
    trace.end(answeredStatus, answer.ended());
    whenGone.clear();
    if (whenEnded != null) {
      whenEnded.run();
    }
  }
}
