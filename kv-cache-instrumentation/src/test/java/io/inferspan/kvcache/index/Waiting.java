package io.inferspan.kvcache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition, but not for ever. */
final class Waiting {

  private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(20);

  private Waiting() {}

  static void until(BooleanSupplier condition) {
    long deadline = System.nanoTime() + BOUND_NANOS;
    while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(condition.getAsBoolean()).as("what was waited for").isTrue();
  }
}
