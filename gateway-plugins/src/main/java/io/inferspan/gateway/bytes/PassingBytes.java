package io.inferspan.gateway.bytes;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Passes the bytes of a buffer to an observer without copying them, and without changing its
 * indices or its reference count.
 */
public final class PassingBytes {

  private PassingBytes() {}

  /** Passes on the readable bytes, in one or more pieces. */
  public static void show(ByteBuf bytes, Consumer<ByteBuffer> eye) {
    int buffers = bytes.isReadable() ? bytes.nioBufferCount() : 0;
    if (buffers == 1) {
      eye.accept(bytes.nioBuffer());
    } else if (buffers > 1) {
      // A composite buffer would copy for a single NIO buffer.
      for (ByteBuffer each : bytes.nioBuffers()) {
        eye.accept(each);
      }
    }
  }
}
