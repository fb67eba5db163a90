package io.inferspan.gateway.bytes;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Reads a Netty buffer as NIO buffers, without copying bytes and without changing the indices or
 * the reference count of the Netty buffer.
 */
public final class NioBuffers {

  private NioBuffers() {}

  /** Passes the readable bytes to {@code observer}, in one or more pieces. */
  public static void forEach(ByteBuf bytes, Consumer<ByteBuffer> observer) {
    int buffers = bytes.isReadable() ? bytes.nioBufferCount() : 0;
    if (buffers == 1) {
      observer.accept(bytes.nioBuffer());
    } else if (buffers > 1) {
      // A single NIO buffer of a composite buffer would be a copy.
      for (ByteBuffer each : bytes.nioBuffers()) {
        observer.accept(each);
      }
    }
  }
}
