package io.inferspan.kvcache.redis.link;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/** Logs once that Redis is unreachable and once that it is back, for all connections together. */
public final class Outage {

  private static final Logger LOGGER = System.getLogger("io.inferspan.kvcache.redis");

  private final String place;
  private final AtomicBoolean on = new AtomicBoolean();

  /** Creates the log for a server that is reachable so far. */
  public Outage(String place) {
    this.place = place;
  }

  void begins(String reason) {
    if (on.compareAndSet(false, true)) {
      LOGGER.log(
          Level.WARNING, "The index at {0} is unreachable ({1}); reconnecting", place, reason);
    }
  }

  void ends() {
    if (on.compareAndSet(true, false)) {
      LOGGER.log(Level.INFO, "The index at {0} is back", place);
    }
  }
}
