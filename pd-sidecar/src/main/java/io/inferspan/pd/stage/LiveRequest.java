package io.inferspan.pd.stage;

import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.metrics.SidecarMetrics;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.Errors;
import io.inferspan.pd.relay.HeldBodies;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.response.ResponseTap;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.opentelemetry.api.trace.SpanContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request from its arrival to its end, which comes once: answered, failed or left by the client.
 *
 * <p>The end closes the span and counts the request.
 */
public final class LiveRequest {
  private static final int FIRST_ERROR_STATUS = 400;

  private static final Reason CLIENT_GONE =
      new Reason("client_disconnected", "the client went away");

  private static final Reason MALFORMED =
      new Reason("malformed_request", "the rest of the request is not well-formed HTTP");

  static final Reason SHUTDOWN =
      new Reason("shutdown", "the proxy stopped before the answer was complete");

  private static final String DECODE_FAILED = "decode request failed";

  private static final Logger LOGGER = System.getLogger("io.inferspan.pd");
  private static final Reason INTERNAL_ERROR =
      new Reason("internal_error", "the proxy failed over this request");

  private final ClientExchange exchange;
  private final Api api;
  private final RequestTrace trace;
  private final SidecarMetrics metrics;
  private final List<Runnable> whenGone = new ArrayList<>(2);
  private @Nullable Runnable whenEnded;
  private HeldBodies.@Nullable Share body;
  private @Nullable ResponseTap tap;
  private Reason givenUpBecause = CLIENT_GONE;
  private int status;
  private boolean ended;

  /**
   * Why the stages of a request are given up.
   *
   * @param type the {@code error.type} on their spans
   * @param text the same in words
   */
  public record Reason(String type, String text) {}

  private LiveRequest(
      ClientExchange exchange, Api api, RequestTrace trace, SidecarMetrics metrics) {
    this.exchange = exchange;
    this.api = api;
    this.trace = trace;
    this.metrics = metrics;
  }

  /** Counts an arrived request and takes care that it ends. */
  public static LiveRequest begin(
      ClientExchange exchange, ProxyParts parts, Api api, RequestTrace trace) {
    SidecarMetrics metrics = parts.metrics();
    LiveRequest live = new LiveRequest(exchange, api, trace, metrics);
    metrics.requestArrived(api, trace.spanContext());
    metrics.requestEntered();
    exchange.whenGone(live::clientGone);
    exchange.whenMalformed(live::malformed);
    exchange.whenCut(live::cut);
    return live;
  }

  public ClientExchange exchange() {
    return exchange;
  }

  /** Which API was called. */
  public Api api() {
    return api;
  }

  public RequestTrace trace() {
    return trace;
  }

  public SidecarMetrics metrics() {
    return metrics;
  }

  /** Counts a failure that belongs to no stage. */
  public void failed() {
    metrics.stageFailed(Stage.REQUEST, trace.spanContext());
  }

  /** A stage begins, whose end is to be counted. */
  public StageRun begin(Stage stage, SpanContext span) {
    return new StageRun(metrics, stage, span);
  }

  /** Adds what is to be cancelled when the client goes away or the stages are given up. */
  public void whenGone(Runnable action) {
    whenGone.add(action);
  }

  /** Sets what runs once the request has ended, for a stage that outlives it. */
  void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /** Cancels the stages that still run: one of them has failed, so the others are of no use. */
  public void giveUp(Reason reason) {
    givenUpBecause = reason;
    cancelStages();
  }

  /** Why the stages are cancelled. */
  public Reason givenUpBecause() {
    return givenUpBecause;
  }

  private void cancelStages() {
    List.copyOf(whenGone).forEach(Runnable::run);
  }

  /** An answer begins: its status is the request's, and its tokens are watched. */
  public void answering(HttpResponse head) {
    status = head.status().code();
    if (api != Api.PASSTHROUGH && status < FIRST_ERROR_STATUS) {
      HttpHeaders headers = head.headers();
      tap =
          ResponseTap.forHeaders(
              headers.get(HttpHeaderNames.CONTENT_TYPE),
              headers.get(HttpHeaderNames.CONTENT_ENCODING));
    }
  }

  /** A piece of the answer passes. */
  public void seen(ByteBuf content) {
    ResponseTap watching = tap;
    if (watching != null) {
      boolean waiting = !watching.hasFirstToken();
      long now = System.nanoTime();
      see(watching, content, now);
      if (waiting && watching.hasFirstToken()) {
        metrics.firstToken(now - trace.arrivedNanos(), trace.spanContext());
      }
    }
  }

  private static void see(ResponseTap watching, ByteBuf content, long now) {
    int start = content.readerIndex();
    if (content.nioBufferCount() == 1) {
      watching.see(content.internalNioBuffer(start, content.readableBytes()), now);
      return;
    }
    for (ByteBuffer piece : content.nioBuffers()) {
      watching.see(piece, now);
    }
  }

  /** The client has its whole answer. */
  public void delivered() {
    end(status);
  }

  /** The proxy itself answered. */
  public void answered(int ownStatus) {
    end(ownStatus);
  }

  /** An engine broke off: before the answer began the decoder's error is told, later a reset. */
  public void decoderFailed(UpstreamException failure) {
    String type = errorType(failure);
    if (exchange.answerBegun()) {
      breakOff(type);
    } else {
      trace.fail(type, DECODE_FAILED);
      end(Errors.decoderFailed(exchange, failure));
    }
  }

  /** The decoder failed so late that the client sees no other sign of it than a reset. */
  void breakOff(String type) {
    trace.fail(type, DECODE_FAILED);
    exchange.abort();
    end(status);
  }

  /** Takes over the share of the request's body, which is to be held. */
  public void hold(HeldBodies.Share share) {
    body = share;
  }

  /** The body has gone where it was needed, as far as this request is concerned. */
  void releaseBody() {
    if (body != null) {
      body.release();
      body = null;
    }
  }

  /** Somebody needs the body for longer than the request may; gives what tells that they do not. */
  Runnable retainBody() {
    HeldBodies.Share share = body;
    if (share == null) {
      return () -> {};
    }
    share.retain();
    return share::release;
  }

  /** Runs a step of the request; where it fails, the client is told so and the request ends. */
  public void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | OutOfMemoryError e) {
      fault(e);
    }
  }

  private void fault(Throwable cause) {
    LOGGER.log(Level.WARNING, "A request failed inside the proxy", cause);
    if (ended) {
      return;
    }
    failed();
    trace.fail(INTERNAL_ERROR.type(), INTERNAL_ERROR.text());
    giveUp(INTERNAL_ERROR);
    if (exchange.answerBegun()) {
      exchange.abort();
      end(status);
    } else {
      Errors.json(
          exchange,
          HttpResponseStatus.INTERNAL_SERVER_ERROR,
          "InternalServerError",
          INTERNAL_ERROR.text());
      end(HttpResponseStatus.INTERNAL_SERVER_ERROR.code());
    }
  }

  /** What {@code error.type} says of a failed call. */
  public static String errorType(UpstreamException failure) {
    return switch (failure.kind()) {
      case REFUSED -> "connection_refused";
      case UNREACHABLE -> "unreachable";
      case RESET -> "connection_reset";
      case GARBAGE -> "malformed_response";
      case OVERDUE -> "timeout";
      case INTERNAL -> INTERNAL_ERROR.type();
    };
  }

  private void clientGone() {
    trace.fail("client_disconnected", "the client went away before its answer was complete");
    cancelStages();
    end(status);
  }

  private void malformed(int toldStatus) {
    failed();
    trace.fail(MALFORMED.type(), MALFORMED.text());
    giveUp(MALFORMED);
    end(toldStatus > 0 ? toldStatus : status);
  }

  private void cut() {
    failed();
    trace.fail(SHUTDOWN.type(), SHUTDOWN.text());
    giveUp(SHUTDOWN);
    exchange.abort();
    end(status);
  }

  /** Whether the request has had its end: nothing needs to be done for it any more. */
  public boolean ended() {
    return ended;
  }

  private void end(int answeredStatus) {
    if (ended) {
      return;
    }
    ended = true;
    releaseBody();
    if (tap != null) {
      tap.end(System.nanoTime());
    }
    metrics.stageEnded(
        Stage.REQUEST, System.nanoTime() - trace.arrivedNanos(), trace.spanContext());
    metrics.requestLeft();
    trace.end(answeredStatus, tap);
    // Stages hold bodies; one that outlives the request must not hold the others.
    whenGone.clear();
    if (whenEnded != null) {
      whenEnded.run();
    }
  }
}
