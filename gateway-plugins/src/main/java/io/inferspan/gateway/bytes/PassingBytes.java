package io.inferspan.gateway.bytes;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Shows bytes where they lie; neither their indices nor their reference count change. */
public final class PassingBytes {

  private PassingBytes() {}

  /** Shows what is readable, in as many pieces as there are. */
  public static void show(ByteBuf bytes, Consumer<ByteBuffer> eye) {
    int buffers = bytes.isReadable() ? bytes.nioBufferCount() : 0;
    if (buffers == 1) {
      eye.accept(bytes.nioBuffer());
    } else if (buffers > 1) {
      // Asked for one buffer, a composite would make a copy.
      for (ByteBuffer each : bytes.nioBuffers()) {
        eye.accept(each);
      }
    }
  }
}
