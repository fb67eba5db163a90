package io.inferspan.samples.gateway;

import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.netty.GatewayHandler;
import io.inferspan.gateway.netty.UpstreamHandler;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A minimal gateway on Netty, for HTTP/1.1: opens a connection to one engine per request. */
final class NettyRelay implements AutoCloseable {

  private static final int MAX_BODY_BYTES = 1 << 20;
  private static final String LOOPBACK = "127.0.0.1";

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final int enginePort;
  private final Channel server;

  NettyRelay(GatewayTracing tracing, int enginePort) {
    this.enginePort = enginePort;
    this.server =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(new HttpServerCodec())
                        .addLast(new GatewayHandler(tracing))
                        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
                        .addLast(new RequestForwarder());
                  }
                })
            .bind(LOOPBACK, 0)
            .syncUninterruptibly()
            .channel();
  }

  String url() {
    return "http://" + LOOPBACK + ":" + ((InetSocketAddress) server.localAddress()).getPort();
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private final class RequestForwarder extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext client, FullHttpRequest request) {
      UpstreamAttempt attempt =
          Objects.requireNonNull(GatewayHandler.current(client.channel()))
              .attempt(LOOPBACK, enginePort);
      UpstreamHandler tracing = new UpstreamHandler();
      tracing.call(attempt);
      request.headers().remove(HttpHeaderNames.CONNECTION).remove(HttpHeaderNames.UPGRADE);
      request.headers().remove("http2-settings");
      request.retain();
      new Bootstrap()
          .group(client.channel().eventLoop())
          .channel(NioSocketChannel.class)
          .handler(
              new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                  channel
                      .pipeline()
                      .addLast(new HttpClientCodec())
                      .addLast(tracing)
                      .addLast(new ResponseForwarder(client));
                }
              })
          .connect(LOOPBACK, enginePort)
          .addListener((ChannelFuture connected) -> connected.channel().writeAndFlush(request));
    }
  }

  private static final class ResponseForwarder extends ChannelInboundHandlerAdapter {
    private final ChannelHandlerContext client;

    ResponseForwarder(ChannelHandlerContext client) {
      this.client = client;
    }

    @Override
    public void channelRead(ChannelHandlerContext engine, Object message) {
      client.writeAndFlush(message);
      if (message instanceof LastHttpContent) {
        engine.close();
      }
    }
  }
}
