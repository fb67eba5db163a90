package io.inferspan.pd.allow;

import java.util.concurrent.ThreadLocalRandom;

/** Pauses between successive failed attempts: growing, with jitter. */
final class Backoff {
  static final long FIRST_MILLIS = 250;
  static final long LONGEST_MILLIS = 30_000;

  private int failures;

  /** Returns the next pause, half of which is random. */
  long nextMillis() {
    long whole = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 10));
    failures++;
    return whole / 2 + ThreadLocalRandom.current().nextLong(whole / 2 + 1);
  }

  void reset() {
    failures = 0;
  }
}
