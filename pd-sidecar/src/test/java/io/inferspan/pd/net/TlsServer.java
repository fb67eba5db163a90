package io.inferspan.pd.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import javax.net.ssl.ExtendedSSLSession;

/** A TLS listener with a replaceable context, which records the names that clients request. */
final class TlsServer implements AutoCloseable {
  final BlockingQueue<String> requestedNames = new LinkedBlockingQueue<>();
  private final MultiThreadIoEventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel channel;

  TlsServer(Supplier<SslContext> contexts) {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel accepted) {
                    SslHandler tls = contexts.get().newHandler(accepted.alloc());
                    accepted.pipeline().addLast(tls, new Silence());
                    tls.handshakeFuture().addListener(done -> remember(tls, done.isSuccess()));
                  }
                });
    channel = bootstrap.bind(InetAddress.getLoopbackAddress(), 0).syncUninterruptibly().channel();
  }

  int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  private void remember(SslHandler tls, boolean success) {
    if (success) {
      ExtendedSSLSession session = (ExtendedSSLSession) tls.engine().getSession();
      requestedNames.add(session.getRequestedServerNames().toString());
    }
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    group.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** Ignores failures, which tests check elsewhere. */
  static final class Silence extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      // A failed handshake closes its connection by itself.
    }
  }
}
