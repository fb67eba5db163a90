package io.inferspan.pd.rig;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for a condition, with a time limit. */
public final class Awaited {
  private static final long POLL_MILLIS = 5;
  private static final Duration SOON = Duration.ofSeconds(5);

  private Awaited() {}

  /** Waits until {@code condition} holds, and fails after a default limit. */
  public static void soon(BooleanSupplier condition) {
    within(SOON, "what was waited for", condition);
  }

  /** Waits until {@code condition} holds, and fails after {@code limit}. */
  public static void within(Duration limit, String what, BooleanSupplier condition) {
    if (!holds(limit, condition)) {
      throw new AssertionError("not within " + limit + ": " + what);
    }
  }

  /** Returns whether {@code condition} becomes true within {@code limit}. */
  public static boolean holds(Duration limit, BooleanSupplier condition) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }
}
