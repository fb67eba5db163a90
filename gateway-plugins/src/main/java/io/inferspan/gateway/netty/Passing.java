package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.bytes.PassingBytes;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;

/** What handlers of both versions do with bytes that pass and with the last of them. */
final class Passing {

  private static final int FIRST_FINAL_STATUS = 200;
  private static final int SWITCHING_PROTOCOLS = 101;

  private Passing() {}

  /** Shows bytes, if anybody sees them. */
  static void show(GatewayRequest request, ByteBuf bytes, Consumer<ByteBuffer> eye) {
    if (request.watched()) {
      PassingBytes.show(bytes, eye);
    }
  }

  /** Whether an answer's head is one that another follows, as after 100 and 103. */
  static boolean isInterim(int status) {
    return status < FIRST_FINAL_STATUS && status != SWITCHING_PROTOCOLS;
  }

  /** The last byte is on its way: the request ends when it has left, or when it cannot. */
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
