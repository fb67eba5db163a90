package io.inferspan.pd.relay;

import io.netty.buffer.ByteBuf;

/** Changes an answer's body on its way to the client. */
public interface BodyFilter {

  /** Takes a piece over and gives what can go on now, which may be empty. */
  ByteBuf rewrite(ByteBuf content);

  /** Gives what was held back. */
  ByteBuf end();

  /** Lets go of what was held back where the answer will not be completed. */
  void discard();
}
