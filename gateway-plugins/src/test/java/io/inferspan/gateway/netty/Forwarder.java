package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.HttpConversionUtil.ExtensionHeaderNames;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Sends whole requests to an engine, one after the other, and their answers back piece by piece.
 */
// Fire and forget is how Netty writes: a failed write ends in a closed channel.
@SuppressWarnings("FutureReturnValueIgnored")
final class Forwarder extends ChannelInboundHandlerAdapter {

  private record Waiting(FullHttpRequest message, GatewayRequest request) {}

  private final int enginePort;
  private final ByteBufAllocator buffers;

  /** Connections that are free; all of them live on one event loop. */
  private final Queue<EngineConnection> idle;

  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private @Nullable Channel engine;
  private boolean busy;

  Forwarder(int enginePort, ByteBufAllocator buffers, Queue<EngineConnection> idle) {
    this.enginePort = enginePort;
    this.buffers = buffers;
    this.idle = idle;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    GatewayRequest request = Objects.requireNonNull(GatewayHandler.current(ctx.channel()));
    waiting.add(new Waiting((FullHttpRequest) message, request));
    next(ctx);
  }

  private void next(ChannelHandlerContext ctx) {
    Waiting first = busy ? null : waiting.poll();
    if (first != null) {
      busy = true;
      forward(ctx, first);
    }
  }

  private void forward(ChannelHandlerContext client, Waiting waiting) {
    UpstreamAttempt attempt = waiting.request().attempt("127.0.0.1", enginePort);
    EngineConnection kept = idle.poll();
    if (kept != null && kept.channel().isActive()) {
      send(kept, client, attempt, waiting.message());
      return;
    }
    ChannelFuture connecting = connect(client);
    connecting.addListener(
        connected -> {
          if (connected.isSuccess()) {
            send(EngineConnection.of(connecting.channel()), client, attempt, waiting.message());
          } else {
            waiting.message().release();
            attempt.fail(connected.cause());
            refuse(client);
          }
        });
  }

  private ChannelFuture connect(ChannelHandlerContext client) {
    return new Bootstrap()
        .group(client.channel().eventLoop())
        .channel(NioSocketChannel.class)
        .option(ChannelOption.ALLOCATOR, buffers)
        .handler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(new HttpClientCodec())
                    .addLast(new UpstreamHandler())
                    .addLast(new Back());
              }
            })
        .connect("127.0.0.1", enginePort);
  }

  private void send(
      EngineConnection to,
      ChannelHandlerContext client,
      UpstreamAttempt attempt,
      FullHttpRequest message) {
    if (!client.channel().isActive()) {
      message.release();
      idle.add(to);
      return;
    }
    engine = to.channel();
    to.tracing().call(attempt);
    to.back().to(this, client);
    for (ExtensionHeaderNames name : ExtensionHeaderNames.values()) {
      message.headers().remove(name.text());
    }
    message.setProtocolVersion(HttpVersion.HTTP_1_1);
    message.headers().set(HttpHeaderNames.HOST, "engine");
    message.headers().remove(HttpHeaderNames.CONNECTION);
    message.headers().set(HttpHeaderNames.CONTENT_LENGTH, message.content().readableBytes());
    to.channel().config().setAutoRead(true);
    to.channel().writeAndFlush(message);
  }

  private void refuse(ChannelHandlerContext client) {
    DefaultFullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_GATEWAY, Unpooled.EMPTY_BUFFER);
    answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
    client.writeAndFlush(answer);
    answered(client);
  }

  private void answered(ChannelHandlerContext client) {
    busy = false;
    engine = null;
    next(client);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
    if (engine != null) {
      engine.config().setAutoRead(ctx.channel().isWritable());
    }
    super.channelWritabilityChanged(ctx);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    waiting.forEach(each -> each.message().release());
    waiting.clear();
    if (engine != null) {
      engine.close();
    }
    super.channelInactive(ctx);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }

  /** A connection to the engine, which is used again. */
  record EngineConnection(Channel channel, UpstreamHandler tracing, Back back) {
    static EngineConnection of(Channel channel) {
      return new EngineConnection(
          channel,
          channel.pipeline().get(UpstreamHandler.class),
          channel.pipeline().get(Back.class));
    }
  }

  /** The way back of answers, of one after the other. */
  static final class Back extends ChannelInboundHandlerAdapter {
    private @Nullable Forwarder forwarder;
    private @Nullable ChannelHandlerContext client;
    private boolean interim;

    void to(Forwarder nextForwarder, ChannelHandlerContext nextClient) {
      forwarder = nextForwarder;
      client = nextClient;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      Forwarder from = forwarder;
      ChannelHandlerContext to = client;
      boolean malformed = ((HttpObject) message).decoderResult().isFailure();
      if (from == null || to == null || malformed || !to.channel().isActive()) {
        ReferenceCountUtil.release(message);
        ctx.close();
        return;
      }
      if (message instanceof HttpResponse response) {
        interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
      }
      boolean complete = message instanceof LastHttpContent && !interim;
      to.writeAndFlush(message);
      if (complete) {
        forwarder = null;
        client = null;
        // Behind us in the pipeline the call is still open until we return.
        ctx.executor().execute(() -> from.idle.add(EngineConnection.of(ctx.channel())));
        from.answered(to);
      } else if (!to.channel().isWritable()) {
        ctx.channel().config().setAutoRead(false);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      if (client != null) {
        client.close();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      ctx.close();
    }
  }
}
