package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import io.netty.handler.codec.http.HttpResponse;

/** Decides whether an answer that has begun to come in may go to the client. */
public interface Gate {

  /** The decisions on a response. */
  enum Verdict {
    /** It cannot be said yet. */
    WAIT,
    /** The client gets it. */
    PASS,
    /** The client does not get it, and the call to the engine ends. */
    DROP
  }

  /** The progress of a response. */
  enum Progress {
    /** There is more to come. */
    PARTIAL,
    /** There is more, but no more can be held. */
    FULL,
    /** That is all. */
    COMPLETE
  }

  /** Looks at what has come so far. */
  Verdict look(HttpResponse head, HeldBody body, Progress progress);

  /** The answer was dropped; what follows is another stage's. */
  default void dropped() {}

  /** Returns how much of the response is read before the decision; {@code limit} is the maximum. */
  long mostHeldBytes(long limit);
}
