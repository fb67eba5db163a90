package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/** A small gateway on Netty: HTTP/1.1 and HTTP/2 on one port, everything to one engine. */
final class NettyGateway implements GatewayRig {

  private static final int MAX_BODY_BYTES = 16 << 20;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  /** Counts allocations, so that a leaked buffer is detected. */
  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);

  private final Queue<Forwarder.EngineConnection> idle = new ArrayDeque<>();
  private final GatewayTracing tracing;
  private final int enginePort;
  private final boolean asFrames;
  private final Channel server;

  NettyGateway(GatewayTracing tracing, int enginePort, boolean asFrames) throws Exception {
    this.tracing = tracing;
    this.enginePort = enginePort;
    this.asFrames = asFrames;
    this.server =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.ALLOCATOR, buffers)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new VersionDetector());
                  }
                })
            .bind("127.0.0.1", 0)
            .sync()
            .channel();
  }

  @Override
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    long left = buffers.metric().usedHeapMemory() + buffers.metric().usedDirectMemory();
    if (left != 0) {
      throw new AssertionError(left + " bytes of buffers were not released");
    }
  }

  private void http1(ChannelPipeline pipeline) {
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new GatewayHandler(tracing))
        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
        .addLast(new Forwarder(enginePort, buffers, idle));
  }

  private void http2(ChannelPipeline pipeline) {
    pipeline
        .addLast(Http2FrameCodecBuilder.forServer().build())
        .addLast(
            new Http2MultiplexHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel stream) {
                    stream(stream.pipeline());
                  }
                }));
  }

  private void stream(ChannelPipeline pipeline) {
    if (asFrames) {
      pipeline
          .addLast(new Http2GatewayHandler(tracing))
          .addLast(new Http2StreamFrameToHttpObjectCodec(true));
    } else {
      pipeline
          .addLast(new Http2StreamFrameToHttpObjectCodec(true))
          .addLast(new GatewayHandler(tracing));
    }
    pipeline
        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
        .addLast(new Forwarder(enginePort, buffers, idle));
  }

  /** Detects HTTP/2 by the first letters of its preface. */
  private final class VersionDetector extends ByteToMessageDecoder {
    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
      if (in.readableBytes() < 3) {
        return;
      }
      boolean two = in.getByte(in.readerIndex()) == 'P' && in.getByte(in.readerIndex() + 1) == 'R';
      if (two) {
        http2(ctx.pipeline());
      } else {
        http1(ctx.pipeline());
      }
      ctx.pipeline().remove(this);
    }
  }
}
