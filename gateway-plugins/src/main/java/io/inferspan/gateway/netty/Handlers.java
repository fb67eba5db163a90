package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.bytes.NioBuffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Methods that the channel handlers share, independent of the HTTP version. */
final class Handlers {

  private static final int FIRST_FINAL_STATUS = 200;
  private static final int SWITCHING_PROTOCOLS = 101;

  private Handlers() {}

  /** Returns the address of the client's connection; an HTTP/2 stream has that of its parent. */
  static @Nullable InetAddress peer(Channel channel) {
    Channel connection = channel.parent() instanceof ServerChannel ? channel : channel.parent();
    return connection != null && connection.remoteAddress() instanceof InetSocketAddress address
        ? address.getAddress()
        : null;
  }

  /** Passes bytes to {@code observer} if the request is observed. */
  static void observe(GatewayRequest request, ByteBuf bytes, Consumer<ByteBuffer> observer) {
    if (request.watched()) {
      NioBuffers.forEach(bytes, observer);
    }
  }

  /** Returns whether the status is interim, that is, another response head follows. */
  static boolean isInterim(int status) {
    return status < FIRST_FINAL_STATUS && status != SWITCHING_PROTOCOLS;
  }

  /**
   * Returns a promise for the last write, which ends the request when the write has succeeded or
   * failed.
   */
  static ChannelPromise ending(GatewayRequest request, ChannelPromise promise) {
    return promise.unvoid().addListener(written -> ended(request, written));
  }

  private static void ended(GatewayRequest request, Future<?> written) {
    if (written.isSuccess()) {
      request.end();
    } else if (written.isCancelled() || written.cause() instanceof ClosedChannelException) {
      request.clientGone();
    } else {
      request.fail(written.cause());
    }
  }
}
