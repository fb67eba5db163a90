package io.inferspan.pd.relay;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponse;

/** Decides whether an answer that has begun to come in may go to the client. */
@FunctionalInterface
public interface Gate {

  /** What becomes of the answer. */
  enum Verdict {
    /** It cannot be said yet. */
    WAIT,
    /** The client gets it. */
    PASS,
    /** The client does not get it, and the engine is told to stop. */
    DROP
  }

  /**
   * Looks at what has come so far.
   *
   * @param complete whether that is all
   */
  Verdict look(HttpResponse head, ByteBuf body, boolean complete);

  /** How much of the answer is read while it cannot be said; {@code limit} is the most. */
  default long mostHeldBytes(long limit) {
    return limit;
  }
}
