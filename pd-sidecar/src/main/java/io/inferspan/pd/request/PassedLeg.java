package io.inferspan.pd.request;

import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.metrics.StageRun;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Relay;
import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
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

/** Passes a request through without inspecting its body. */
final class PassedLeg extends Relay {
  private static final int FIRST_ERROR_STATUS = 400;

  private final PdRequest request;
  private final ClientExchange exchange;
  private final Target target;
  private final CallTrace trace;

  /** Null for a request that is passed through, because it is not a decode. */
  private final @Nullable StageRun decode;

  /** True if no body is sent to the engine. */
  private boolean bodyless;

  PassedLeg(PdRequest request, Target target) {
    super(request.exchange(), request.answer(), replayable(request.exchange().request()));
    this.request = request;
    this.exchange = request.exchange();
    this.target = target;
    HttpRequest head = exchange.request();
    this.bodyless = bodyless(head);
    this.trace = request.trace().call(head.method().name(), target.host(), target.port());
    trace.inject(head.headers());
    boolean passes = request.api() == Api.PASSTHROUGH;
    this.decode =
        passes ? null : request.metrics().begin(Stage.DECODE, request.trace().spanContext());
  }

  void start() {
    request.parts().engines().decoders().start(exchange.loop(), target, this);
    request.whenGone(
        () -> {
          cancel();
          trace.failed(request.givenUpBecause().type());
        });
  }

  private static boolean replayable(HttpRequest request) {
    HttpMethod method = request.method();
    return bodyless(request) && (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD));
  }

  private static boolean bodyless(HttpRequest request) {
    HttpHeaders headers = request.headers();
    String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    return !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        && (length == null || length.equals("0"));
  }

  @Override
  protected void connected() {
    HttpRequest head = exchange.request();
    head.setProtocolVersion(HttpVersion.HTTP_1_1);
    exchange.continueBody();
    send(head);
    if (bodyless) {
      finish(EmptyHttpHeaders.INSTANCE);
      flush();
    }
    exchange.body(new Upload());
    flush();
  }

  /** The client's body on its way to the engine. */
  private final class Upload implements BodyListener {
    @Override
    public void content(ByteBuf content) {
      if (bodyless) {
        content.release();
        return;
      }
      write(content);
      if (!writable()) {
        exchange.reading(false);
      }
    }

    @Override
    public void pause() {
      if (!bodyless) {
        flush();
        if (!writable()) {
          exchange.reading(false);
        }
      }
    }

    @Override
    public void end(HttpHeaders trailers) {
      if (!bodyless) {
        finish(trailers);
      }
    }
  }

  @Override
  protected void drained() {
    exchange.reading(true);
  }

  @Override
  protected @Nullable BodyFilter answering(HttpResponse head) {
    // After a protocol upgrade, raw bytes follow.
    bodyless &= !head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    int status = head.status().code();
    trace.answered(status);
    if (status >= FIRST_ERROR_STATUS && decode != null) {
      decode.failed();
    }
    return null;
  }

  @Override
  protected void delivered() {
    trace.end();
    if (decode != null) {
      decode.ended();
    }
    request.delivered();
  }

  @Override
  protected void brokenOff(UpstreamFailure failure) {
    trace.failed(failure.type());
    if (decode == null) {
      request.failed();
    } else {
      decode.failed();
    }
    request.decoderFailed(failure);
  }
}
