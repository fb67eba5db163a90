package io.inferspan.pd.server;

import io.inferspan.pd.net.Loops;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Listens on a port: HTTP/1.1, HTTP/2 with prior knowledge, and both over TLS. */
public final class HttpListener implements AutoCloseable {
  private static final Duration SWEEP = Duration.ofSeconds(5);
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_LINE_BYTES = 64 * 1024;
  private static final int MAX_CONTENT_BYTES = 64 * 1024;

  private final Channel channel;
  private final OpenConnections open;
  private final ScheduledFuture<?> sweep;

  private HttpListener(Channel channel, OpenConnections open) {
    this.channel = channel;
    this.open = open;
    this.sweep =
        channel
            .eventLoop()
            .scheduleAtFixedRate(
                () -> open.sweep(System.nanoTime()),
                SWEEP.toMillis(),
                SWEEP.toMillis(),
                TimeUnit.MILLISECONDS);
  }

  /**
   * Begins to listen on all addresses.
   *
   * @param port zero for any free one
   * @throws IOException where the port is taken
   */
  public static HttpListener listen(Loops loops, int port, ListenerSettings settings)
      throws IOException {
    OpenConnections open = new OpenConnections();
    ChannelFuture binding =
        loops.server().childHandler(initializer(settings, open)).bind(port).awaitUninterruptibly();
    if (!binding.isSuccess()) {
      throw new IOException(
          "cannot listen on port " + port + ": " + binding.cause().getMessage(), binding.cause());
    }
    return new HttpListener(binding.channel(), open);
  }

  private static ChannelInitializer<Channel> initializer(
      ListenerSettings settings, OpenConnections open) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        if (settings.tls() == null) {
          channel.pipeline().addLast(new PrefaceDetector(settings, open));
        } else {
          SslHandler tls = settings.tls().get().newHandler(channel.alloc());
          tls.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT.toMillis());
          channel.pipeline().addLast(tls, afterHandshake(settings, open));
        }
      }
    };
  }

  private static ApplicationProtocolNegotiationHandler afterHandshake(
      ListenerSettings settings, OpenConnections open) {
    return new ApplicationProtocolNegotiationHandler(ApplicationProtocolNames.HTTP_1_1) {
      @Override
      protected void configurePipeline(ChannelHandlerContext context, String protocol) {
        if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
          open.add(Http2Connection.install(context.channel(), settings));
        } else {
          open.add(http1(context.channel(), settings));
        }
      }

      @Override
      protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
        context.close();
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
      }
    };
  }

  /** Sets a channel up for HTTP/1.1. */
  static ClientConnection http1(Channel channel, ListenerSettings settings) {
    ClientConnection connection = new ClientConnection(settings.handler(), settings.rank());
    HttpDecoderConfig decoding =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE_BYTES)
            .setMaxHeaderSize(settings.headerBytes())
            .setMaxChunkSize(MAX_CONTENT_BYTES);
    channel
        .pipeline()
        .addLast(new RequestDecoder(decoding, connection), new HttpResponseEncoder(), connection);
    return connection;
  }

  /** Returns the port. */
  public int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return open.count();
  }

  /** Stops accepting connections, and closes existing ones when their requests end. */
  public void drain() {
    sweep.cancel(false);
    channel.close();
    open.drain();
  }

  /** Stops accepting connections, and closes existing ones at once. */
  @Override
  public void close() {
    sweep.cancel(false);
    channel.close().awaitUninterruptibly();
    open.cut();
  }
}
