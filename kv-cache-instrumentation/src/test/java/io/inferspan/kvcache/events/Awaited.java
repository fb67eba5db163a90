package io.inferspan.kvcache.events;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what happens elsewhere, but not for ever. */
final class Awaited {

  private static final Duration BOUND = Duration.ofSeconds(20);

  private Awaited() {}

  /** Waits until {@code condition} holds, and fails where it does not in time. */
  static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within " + BOUND + ": " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }
}
