package io.inferspan.kvcache.index.redis.link;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/** Says once that Redis is gone and once that it is back, for all connections together. */
public final class Outage {

  private static final Logger LOGGER = System.getLogger("io.inferspan.kvcache.index.redis");

  private final String place;
  private final AtomicBoolean on = new AtomicBoolean();

  /** Of the server at {@code place}, which is there so far. */
  public Outage(String place) {
    this.place = place;
  }

  void begins(String reason) {
    if (on.compareAndSet(false, true)) {
      LOGGER.log(
          Level.WARNING, "The index at {0} is out of reach ({1}); trying again", place, reason);
    }
  }

  void ends() {
    if (on.compareAndSet(true, false)) {
      LOGGER.log(Level.INFO, "The index at {0} is back", place);
    }
  }
}
