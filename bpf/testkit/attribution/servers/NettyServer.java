// SPDX-License-Identifier: Apache-2.0

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Netty's HTTP codec on two event loops. */
final class NettyServer extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final String MARKS = System.getenv("MARKS");

  private record Work(String mark, int opens, int chunk, int chunks, int pad, int delay, String mode) {
    static Work of(String path) {
      String[] parts = path.split("/");
      return new Work(
          parts[2], Integer.parseInt(parts[3]), Integer.parseInt(parts[4]), Integer.parseInt(parts[5]),
          Integer.parseInt(parts[6]), Integer.parseInt(parts[7]), parts[8]);
    }
  }

  private static void mark(Work work, int number) {
    try (FileInputStream ignored = new FileInputStream(MARKS + "/" + work.mark + "." + number)) {
      throw new IllegalStateException("this file should not exist");
    } catch (IOException missing) {
      // Only the attempt matters.
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    Work work = Work.of(request.uri());
    for (int number = 0; number < work.opens; number++) {
      mark(work, number);
    }
    if (work.mode.equals("boom")) {
      throw new IllegalStateException("the request asks for a failure");
    }
    HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, work.chunk * work.chunks);
    response.headers().set("X-Pad", "p".repeat(work.pad));
    context.writeAndFlush(response);
    chunk(context, work, 0);
  }

  private static void chunk(ChannelHandlerContext context, Work work, int number) {
    if (number > 0) {
      mark(work, work.opens + number - 1);
    }
    byte[] bytes = "c".repeat(work.chunk).getBytes();
    if (number == work.chunks - 1) {
      context.writeAndFlush(new DefaultLastHttpContent(Unpooled.wrappedBuffer(bytes)));
      return;
    }
    context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)));
    if (work.delay == 0) {
      chunk(context, work, number + 1);
    } else {
      context.executor().schedule(() -> chunk(context, work, number + 1), work.delay, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    context.close();
  }

  public static void main(String[] arguments) {
    ServerBootstrap server =
        new ServerBootstrap()
            .group(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()))
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 128)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(
                        new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new NettyServer());
                  }
                });
    var channel = server.bind(InetAddress.getLoopbackAddress(), 0).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE)
        .syncUninterruptibly().channel();
    System.out.println(((InetSocketAddress) channel.localAddress()).getPort());
  }
}
