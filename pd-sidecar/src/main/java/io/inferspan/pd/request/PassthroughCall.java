package io.inferspan.pd.request;

import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.telemetry.Api;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.upstream.Target;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;

/** Passes a request through without inspecting its body. */
final class PassthroughCall extends DecodeCall {
  private final ClientExchange exchange;

  /** True if no body is sent to the engine. */
  private boolean bodyless;

  PassthroughCall(PdRequest request, Target target) {
    super(
        request,
        target,
        request.api() == Api.PASSTHROUGH
            ? null
            : request.metrics().begin(Stage.DECODE, request.trace().spanContext()));
    this.exchange = request.exchange();
    HttpHeaders headers = sent().headers();
    String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    this.bodyless =
        !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
            && (length == null || length.equals("0"));
    HttpMethod method = sent().method();
    if (bodyless && (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD))) {
      allowReplay();
    }
  }

  @Override
  protected void connected() {
    sent().setProtocolVersion(HttpVersion.HTTP_1_1);
    exchange.continueBody();
    send();
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
  protected void resume() {
    exchange.reading(true);
  }

  @Override
  protected void answering(HttpResponse head) {
    // After a protocol upgrade, raw bytes follow.
    bodyless &= !head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    super.answering(head);
  }
}
