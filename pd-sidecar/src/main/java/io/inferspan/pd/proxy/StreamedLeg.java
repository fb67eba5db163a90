package io.inferspan.pd.proxy;

import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Relay;
import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.StageRun;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/** Passes a request through as it comes, without looking into its body. */
final class StreamedLeg implements Relay.Leg, BodyListener {
  private static final int FIRST_ERROR_STATUS = 400;

  private final LiveRequest live;
  private final ClientExchange exchange;

  /** Nothing of the client's goes to the engine after the head. */
  private boolean bodyless;

  private final CallTrace trace;

  /** Null for what passes through: it is no decode. */
  private final @Nullable StageRun decode;

  private @Nullable UpstreamCall call;

  private StreamedLeg(LiveRequest live, Target target) {
    this.live = live;
    this.exchange = live.exchange();
    HttpRequest request = exchange.request();
    this.bodyless = bodyless(request);
    this.trace = live.trace().call(request.method().name(), target.host(), target.port());
    trace.inject(request.headers());
    boolean passes = live.api() == Api.PASSTHROUGH;
    this.decode = passes ? null : live.begin(Stage.DECODE, live.trace().spanContext());
  }

  /** Sends the client's request to {@code target}, and the answer back. */
  static void start(LiveRequest live, Upstreams upstreams, Target target) {
    StreamedLeg leg = new StreamedLeg(live, target);
    ClientExchange exchange = live.exchange();
    Relay relay = new Relay(exchange, leg);
    boolean replayable = leg.bodyless && safe(exchange.request().method());
    UpstreamCall call = upstreams.call(exchange.loop(), target, replayable, relay);
    live.whenGone(
        () -> {
          call.cancel();
          relay.drop();
          leg.trace.failed(live.givenUpBecause().type());
        });
  }

  private static boolean bodyless(HttpRequest request) {
    HttpHeaders headers = request.headers();
    String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    return !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        && (length == null || length.equals("0"));
  }

  private static boolean safe(HttpMethod method) {
    return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
  }

  @Override
  public void send(UpstreamCall call) {
    this.call = call;
    HttpRequest request = exchange.request();
    request.setProtocolVersion(HttpVersion.HTTP_1_1);
    exchange.continueBody();
    call.send(request);
    if (bodyless) {
      call.finish(EmptyHttpHeaders.INSTANCE);
      call.flush();
    }
    exchange.body(this);
    call.flush();
  }

  @Override
  public void content(ByteBuf content) {
    if (call == null || bodyless) {
      content.release();
      return;
    }
    call.write(content);
    if (!call.writable()) {
      exchange.reading(false);
    }
  }

  @Override
  public void pause() {
    if (call != null && !bodyless) {
      call.flush();
      if (!call.writable()) {
        exchange.reading(false);
      }
    }
  }

  @Override
  public void writable() {
    exchange.reading(true);
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (call != null && !bodyless) {
      call.finish(trailers);
    }
  }

  @Override
  public @Nullable BodyFilter head(HttpResponse head) {
    live.answering(head);
    // After a switch of protocols there are bytes to pass on.
    bodyless &= !head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    int status = head.status().code();
    trace.answered(status);
    if (status >= FIRST_ERROR_STATUS && decode != null) {
      decode.failed();
    }
    return null;
  }

  @Override
  public void seen(ByteBuf content) {
    live.seen(content);
  }

  @Override
  public void delivered() {
    trace.end();
    if (decode != null) {
      decode.ended();
    }
    live.delivered();
  }

  @Override
  public void failed(UpstreamException failure) {
    trace.failed(LiveRequest.errorType(failure));
    if (decode == null) {
      live.failed();
    } else {
      decode.failed();
    }
    live.decoderFailed(failure);
  }
}
