package io.inferspan.pd.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.TimeUnit;

/**
 * Closes a client's connection or HTTP/2 stream, either after the response or in the middle of it.
 */
final class ConnectionEnd {
  private static final long LINGER_MILLIS = 500;

  /** The time after which the connection is closed even if the client has not read its response. */
  private static final long LONGEST_MILLIS = 30_000;

  private ConnectionEnd() {}

  /**
   * Closes after everything is written. If the client still sends, it gets time to read the
   * response, which a reset would discard.
   */
  static void gentle(ChannelHandlerContext context, boolean allRead) {
    Channel channel = context.channel();
    if (channel instanceof Http2StreamChannel) {
      endStream(context, allRead);
      return;
    }
    ChannelFuture written = context.writeAndFlush(Unpooled.EMPTY_BUFFER);
    if (!allRead && channel instanceof DuplexChannel socket) {
      channel.config().setAutoRead(true);
      written.addListener(
          _ -> {
            endOutput(socket);
            closeAfter(channel, LINGER_MILLIS);
          });
      closeAfter(channel, LONGEST_MILLIS);
    } else {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  /**
   * Resets an HTTP/2 stream so that the client stops sending. The reset is deferred, so that the
   * response is flushed first.
   */
  private static void endStream(ChannelHandlerContext context, boolean allRead) {
    if (!allRead) {
      context
          .executor()
          .execute(() -> context.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.NO_ERROR)));
    }
  }

  private static void endOutput(DuplexChannel socket) {
    SslHandler tls = socket.pipeline().get(SslHandler.class);
    if (tls == null) {
      socket.shutdownOutput();
    } else {
      tls.closeOutbound().addListener(_ -> socket.shutdownOutput());
    }
  }

  /**
   * Truncates a response in a way that the client can detect.
   *
   * @param byReset whether the end of the connection alone would look like a complete response
   */
  static void breakOff(ChannelHandlerContext context, boolean byReset) {
    Channel channel = context.channel();
    if (byReset) {
      if (channel.config() instanceof SocketChannelConfig config) {
        config.setSoLinger(0);
      }
      context.close();
    } else if (channel instanceof Http2StreamChannel) {
      context.flush();
      context.executor().execute(context::close);
    } else {
      // Closes once written data has been sent; a client that does not read cannot delay this.
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      closeAfter(channel, LINGER_MILLIS);
    }
  }

  private static void closeAfter(Channel channel, long millis) {
    channel.eventLoop().schedule(() -> channel.close(), millis, TimeUnit.MILLISECONDS);
  }
}
