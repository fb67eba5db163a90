package io.inferspan.samples.ebpf.cost;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for a time or for a condition. */
final class Waiting {

  private Waiting() {}

  static void millis(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("Waited 30 s in vain for " + what);
      }
      millis(20);
    }
  }
}
