package io.inferspan.gateway.bytes;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Shows bytes where they lie; neither their indices nor their reference count change. */
public final class PassingBytes {

  private PassingBytes() {}

  /** Shows the readable bytes in one or more pieces. */
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
