package io.inferspan.pd.relay;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;

/** Changes a response's body on its way to the client. */
public interface BodyFilter {

  /** Takes ownership of a piece, and returns the bytes that can be sent now, which may be empty. */
  ByteBuf rewrite(ByteBuf content);

  /** Passes the held bytes to {@code next}, possibly later, but never after {@link #discard}. */
  void end(Consumer<ByteBuf> next);

  /** Releases the held bytes of a response that will not be completed. */
  void discard();
}
