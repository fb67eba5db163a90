package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.TimeoutException;
import io.netty.util.AttributeKey;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Traces the requests of an HTTP/1.1 connection. Add one per channel, directly after the {@code
 * HttpServerCodec}.
 *
 * <p>It also works on the channel of an HTTP/2 stream, after a codec that converts frames to HTTP
 * objects; {@link Http2GatewayHandler} needs no such codec. It does not change messages. It matches
 * responses to pipelined requests by order; the gateway must limit the number of pipelined
 * requests.
 */
public final class GatewayHandler extends ChannelDuplexHandler {

  /**
   * The channel attribute with the request that was read last. Handlers that continue
   * asynchronously must keep a reference, because the next request replaces it.
   */
  public static final AttributeKey<GatewayRequest> REQUEST =
      AttributeKey.valueOf(GatewayHandler.class, "request");

  private final GatewayTracing tracing;
  private final Queue<GatewayRequest> pending = new ArrayDeque<>();
  private @Nullable GatewayRequest reading;
  private boolean interim;

  /** Creates a handler for one channel. */
  public GatewayHandler(GatewayTracing tracing) {
    this.tracing = tracing;
  }

  /** Returns the request that a channel's handlers are processing; null before the first. */
  public static @Nullable GatewayRequest current(Channel channel) {
    return channel.attr(REQUEST).get();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    if (message instanceof HttpRequest request) {
      GatewayRequest begun = tracing.begin(new Http1Exchange(request, ctx.channel()));
      pending.add(begun);
      reading = begun;
      ctx.channel().attr(REQUEST).set(begun);
    }
    GatewayRequest live = reading;
    if (live != null && message instanceof HttpContent content) {
      Handlers.observe(live, content.content(), live::requestBody);
    }
    super.channelRead(ctx, message);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise)
      throws Exception {
    GatewayRequest answered = pending.peek();
    super.write(ctx, message, answered == null ? promise : pass(answered, message, promise));
  }

  private ChannelPromise pass(GatewayRequest answered, Object message, ChannelPromise promise) {
    if (message instanceof HttpResponse response) {
      interim = Handlers.isInterim(response.status().code());
      if (!interim) {
        answered.responseHead(
            response.status().code(),
            response.headers().get(HttpHeaderNames.CONTENT_TYPE),
            response.headers().get(HttpHeaderNames.CONTENT_ENCODING));
      }
    }
    if (interim || !(message instanceof HttpContent content)) {
      return promise;
    }
    Handlers.observe(answered, content.content(), answered::see);
    if (message instanceof LastHttpContent) {
      pending.remove();
      return Handlers.ending(answered, promise);
    }
    return promise;
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    endAll(GatewayRequest::clientGone);
    super.channelInactive(ctx);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    endAll(
        request ->
            request.fail("handler_removed", "the GatewayHandler was removed from the pipeline"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    if (cause instanceof TimeoutException) {
      endAll(GatewayRequest::timedOut);
    }
    super.exceptionCaught(ctx, cause);
  }

  private void endAll(Consumer<GatewayRequest> ending) {
    pending.forEach(ending);
    pending.clear();
  }

  /** An HTTP/1.1 request. */
  private record Http1Exchange(HttpRequest request, Channel channel) implements GatewayExchange {

    @Override
    public String method() {
      return request.method().name();
    }

    @Override
    public String path() {
      return request.uri();
    }

    @Override
    public @Nullable String header(String name) {
      return request.headers().get(name);
    }

    @Override
    public Iterator<String> headers(String name) {
      // Netty's iterators over the values of a name are in reverse order.
      return request.headers().getAll(name).iterator();
    }

    @Override
    public @Nullable InetAddress peer() {
      return Handlers.peer(channel);
    }
  }
}
