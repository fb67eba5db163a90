package io.inferspan.pd.relay;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;

/** Changes an answer's body on its way to the client. */
public interface BodyFilter {

  /** Takes a piece over and returns what can go on now, which may be empty. */
  ByteBuf rewrite(ByteBuf content);

  /** Passes the held bytes to {@code next}, maybe later; never after {@link #discard}. */
  void end(Consumer<ByteBuf> next);

  /** Releases the held bytes of a response that will not be completed. */
  void discard();
}
