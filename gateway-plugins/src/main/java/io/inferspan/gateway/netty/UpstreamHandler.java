package io.inferspan.gateway.netty;

import io.inferspan.gateway.UpstreamAttempt;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Traces calls to an engine over one connection. Add it after the {@code HttpClientCodec}.
 *
 * <p>Set the attempt of each call with {@link #call}. The handler writes its trace context into the
 * outgoing request, replacing the client's. It does not inspect the bytes of the response, because
 * {@link GatewayHandler} does.
 */
public final class UpstreamHandler extends ChannelDuplexHandler {

  private @Nullable UpstreamAttempt attempt;
  private boolean interim;

  /** Creates a handler for one connection. */
  public UpstreamHandler() {}

  /** Sets the attempt of the next request that is written. Call it on the event loop. */
  public void call(UpstreamAttempt attempt) {
    this.attempt = attempt;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise)
      throws Exception {
    UpstreamAttempt live = attempt;
    if (live != null && message instanceof HttpRequest request) {
      live.connected();
      live.inject(request.headers(), NettyHeaders.HTTP1);
    }
    super.write(ctx, message, promise);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    UpstreamAttempt live = attempt;
    if (live == null || !(message instanceof HttpObject part)) {
      super.channelRead(ctx, message);
      return;
    }
    boolean malformed = part.decoderResult().isFailure();
    if (malformed) {
      fail(live, "malformed_answer");
    } else if (part instanceof HttpResponse response) {
      head(live, response);
    }
    boolean last = part instanceof LastHttpContent && !interim && !malformed;
    // Forward the last bytes first, because bytes after the end of the attempt are not recorded.
    super.channelRead(ctx, message);
    if (last) {
      attempt = attempt == live ? null : attempt;
      live.end();
    }
  }

  private void head(UpstreamAttempt live, HttpResponse response) {
    interim = Handlers.isInterim(response.status().code());
    if (!interim) {
      live.responseHead(
          response.status().code(),
          response.headers().get(HttpHeaderNames.CONTENT_TYPE),
          response.headers().get(HttpHeaderNames.CONTENT_ENCODING));
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    UpstreamAttempt live = attempt;
    if (live != null) {
      fail(live, "connection_closed");
    }
    super.channelInactive(ctx);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    UpstreamAttempt live = attempt;
    if (live != null) {
      attempt = null;
      if (cause instanceof TimeoutException) {
        live.timedOut();
      } else {
        live.fail(cause);
      }
    }
    super.exceptionCaught(ctx, cause);
  }

  private void fail(UpstreamAttempt live, String type) {
    attempt = null;
    live.fail(type);
  }
}
