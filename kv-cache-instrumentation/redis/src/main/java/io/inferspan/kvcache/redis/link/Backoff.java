package io.inferspan.kvcache.redis.link;

import java.util.concurrent.ThreadLocalRandom;

/** Delays between connection attempts: doubled each time, up to a limit. */
final class Backoff {

  private static final long FIRST_MILLIS = 50;
  private static final int MOST_DOUBLINGS = 6;

  private Backoff() {}

  /**
   * Returns the delay after so many attempts, with 25% jitter so that a fleet does not reconnect in
   * step.
   */
  static long millis(int attempts) {
    long rest = FIRST_MILLIS << Math.min(attempts - 1, MOST_DOUBLINGS);
    return rest * 3 / 4 + ThreadLocalRandom.current().nextLong(rest / 2);
  }
}
