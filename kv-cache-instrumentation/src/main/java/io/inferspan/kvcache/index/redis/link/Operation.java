package io.inferspan.kvcache.index.redis.link;

import io.vertx.core.Vertx;

/** Something that is asked of Redis and is over by its deadline, one way or the other. */
public abstract class Operation {

  private static final long NO_TIMER = -1;

  private final Vertx vertx;
  private long timer = NO_TIMER;
  private boolean over;

  /** Something that is not asked yet. */
  protected Operation(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Sends the first commands; there is a connection. */
  public abstract void start();

  /** There is no connection, and it is not worth waiting. */
  public abstract void refused(String reason);

  /** The deadline has passed. */
  public abstract void expired();

  /** Whether it is. */
  public final boolean isOver() {
    return over;
  }

  /** Sets the deadline, if it is not set. */
  public final void expireAfter(long millis) {
    if (timer == NO_TIMER) {
      timer =
          vertx.setTimer(
              Math.max(1, millis),
              id -> {
                if (!over) {
                  expired();
                }
              });
    }
  }

  /** Whether this call made it over; only one does. */
  public final boolean end() {
    if (over) {
      return false;
    }
    over = true;
    if (timer != NO_TIMER) {
      vertx.cancelTimer(timer);
    }
    return true;
  }
}
