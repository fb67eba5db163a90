package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.timeout.TimeoutException;
import java.net.InetAddress;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Traces the request of an HTTP/2 stream. Add it as the first handler of the stream's channel,
 * which an {@code Http2MultiplexHandler} opens.
 *
 * <p>Frames pass unchanged. The request is in the channel attribute {@link GatewayHandler#REQUEST}.
 */
public final class Http2GatewayHandler extends ChannelDuplexHandler {

  private static final int NO_STATUS = 0;

  private final GatewayTracing tracing;
  private @Nullable GatewayRequest request;
  private boolean answered;

  /** Creates a handler for one stream. */
  public Http2GatewayHandler(GatewayTracing tracing) {
    this.tracing = tracing;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    GatewayRequest live = request;
    if (live == null && message instanceof Http2HeadersFrame frame) {
      GatewayRequest begun = tracing.begin(new Http2Exchange(frame.headers(), ctx.channel()));
      request = begun;
      ctx.channel().attr(GatewayHandler.REQUEST).set(begun);
    } else if (live != null && message instanceof Http2DataFrame frame) {
      Handlers.observe(live, frame.content(), live::requestBody);
    }
    super.channelRead(ctx, message);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise)
      throws Exception {
    GatewayRequest live = request;
    super.write(ctx, message, live == null ? promise : pass(live, message, promise));
  }

  private ChannelPromise pass(GatewayRequest live, Object message, ChannelPromise promise) {
    if (message instanceof Http2HeadersFrame frame) {
      head(live, frame.headers());
      answered = frame.isEndStream();
    } else if (message instanceof Http2DataFrame frame) {
      Handlers.observe(live, frame.content(), live::see);
      answered = frame.isEndStream();
    } else {
      if (message instanceof Http2ResetFrame && !answered) {
        live.fail("stream_reset", "the gateway reset the stream");
      }
      return promise;
    }
    return answered ? Handlers.ending(live, promise) : promise;
  }

  /** Records the final response head; ignores interim heads, and trailers, which have no status. */
  private static void head(GatewayRequest live, Http2Headers headers) {
    int status = status(headers.status());
    if (status != NO_STATUS && !Handlers.isInterim(status)) {
      live.responseHead(
          status,
          headers.get(HttpHeaderNames.CONTENT_TYPE),
          headers.get(HttpHeaderNames.CONTENT_ENCODING));
    }
  }

  private static int status(@Nullable CharSequence text) {
    try {
      return text == null ? NO_STATUS : Integer.parseInt(text, 0, text.length(), 10);
    } catch (NumberFormatException e) {
      return NO_STATUS;
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
    GatewayRequest live = request;
    if (live != null && event instanceof Http2ResetFrame) {
      live.clientGone();
    }
    super.userEventTriggered(ctx, event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    GatewayRequest live = request;
    if (live != null) {
      live.clientGone();
    }
    super.channelInactive(ctx);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    GatewayRequest live = request;
    if (live != null && cause instanceof TimeoutException) {
      live.timedOut();
    }
    super.exceptionCaught(ctx, cause);
  }

  /** An HTTP/2 request. */
  private record Http2Exchange(Http2Headers headers, Channel channel) implements GatewayExchange {

    @Override
    public String method() {
      return text(headers.method());
    }

    @Override
    public String path() {
      return text(headers.path());
    }

    @Override
    public @Nullable String header(String name) {
      CharSequence value = headers.get(name);
      return value == null ? null : value.toString();
    }

    @Override
    public Iterator<String> headers(String name) {
      // Netty's iterators over the values of a name are in reverse order.
      return headers.getAll(name).stream().map(CharSequence::toString).iterator();
    }

    @Override
    public @Nullable InetAddress peer() {
      return Handlers.peer(channel);
    }

    private static String text(@Nullable CharSequence value) {
      return value == null ? "" : value.toString();
    }
  }
}
