package io.inferspan.kvcache.redis.link;

import io.vertx.core.Vertx;

/** An operation on Redis that ends, with or without success, by its deadline. */
public abstract class Operation {

  private static final long NO_TIMER = -1;

  private final Vertx vertx;
  private long timer = NO_TIMER;
  private boolean over;

  /** Creates an operation that has not started. */
  protected Operation(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Sends the first commands. Called when there is a connection. */
  public abstract void start();

  /** Fails because there is no connection and waiting is not worthwhile. */
  public abstract void refused(String reason);

  /** Fails because the deadline has passed. */
  public abstract void expired();

  /** Returns whether the operation has ended. */
  public final boolean isOver() {
    return over;
  }

  /** Sets the deadline, unless it is set already. */
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

  /** Ends the operation; returns true for the one call that did. */
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
