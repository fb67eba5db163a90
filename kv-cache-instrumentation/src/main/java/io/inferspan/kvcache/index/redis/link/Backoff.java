package io.inferspan.kvcache.index.redis.link;

import java.util.concurrent.ThreadLocalRandom;

/** How long to rest before the next attempt to connect: twice as long each time, up to a bound. */
final class Backoff {

  private static final long FIRST_MILLIS = 50;
  private static final int MOST_DOUBLINGS = 6;

  private Backoff() {}

  /** The rest after so many attempts, a quarter more or less, so that a fleet does not march. */
  static long millis(int attempts) {
    long rest = FIRST_MILLIS << Math.min(attempts - 1, MOST_DOUBLINGS);
    return rest * 3 / 4 + ThreadLocalRandom.current().nextLong(rest / 2);
  }
}
