package io.inferspan.gateway.bytes;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Passes the bytes of a Netty buffer to an observer, without copying them and without changing the
 * indices or the reference count of the buffer.
 */
public final class PassingBytes {

  private PassingBytes() {}

  /** Passes the readable bytes, in one or more pieces. */
  public static void show(ByteBuf bytes, Consumer<ByteBuffer> observer) {
    int buffers = bytes.isReadable() ? bytes.nioBufferCount() : 0;
    if (buffers == 1) {
      observer.accept(bytes.nioBuffer());
    } else if (buffers > 1) {
      // A composite buffer would copy for a single NIO buffer.
      for (ByteBuffer each : bytes.nioBuffers()) {
        observer.accept(each);
      }
    }
  }
}
