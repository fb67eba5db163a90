package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for conditions, which it checks every 10 ms for up to a minute. */
public final class Eventually {

  private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int STEP_MILLIS = 10;

  private Eventually() {}

  /** Waits until a condition is true; {@code what} names it in the error. */
  public static void is(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + BOUND_NANOS;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("still waiting for %s", what).isLessThan(deadline);
      try {
        TimeUnit.MILLISECONDS.sleep(STEP_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }
}
