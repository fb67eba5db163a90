package io.inferspan.kvcache;

import java.lang.management.ManagementFactory;

/** Measures the allocations of threads. */
public final class Allocations {

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocations() {}

  /** Returns the number of bytes this thread has allocated so far. */
  public static long ofThisThread() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }

  /** Returns the bytes that this many rounds allocate, after as many to warm up. */
  public static long of(int rounds, Runnable round) {
    long before = 0;
    for (int i = -rounds; i < rounds; i++) {
      if (i == 0) {
        before = ofThisThread();
      }
      round.run();
    }
    return ofThisThread() - before;
  }
}
