package io.inferspan.pd.request;

import io.inferspan.pd.net.HeldBody;
import io.netty.handler.codec.http.HttpResponse;

/** Decides whether a response that has begun to arrive is passed to the client. */
public interface Gate {

  enum Verdict {
    WAIT,
    /** The client gets the response. */
    PASS,
    /** The client does not get the response, and the call to the engine is cancelled. */
    DROP
  }

  enum Progress {
    /** More data will follow. */
    PARTIAL,
    /** More data will follow, but no more can be buffered. */
    FULL,
    COMPLETE
  }

  /** Checks the data received so far. */
  Verdict look(HttpResponse head, HeldBody body, Progress progress);

  /**
   * Called after the response was dropped; another stage of the request may now answer the client.
   */
  default void dropped() {}

  /** Returns how many bytes of the response are held before the decision, {@code limit} at most. */
  long maxHeldBytes(long limit);
}
