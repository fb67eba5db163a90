package io.inferspan.kvcache.events;

import java.lang.management.ManagementFactory;

/** Measures the allocations of threads. */
final class Allocations {

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocations() {}

  /** Returns the number of bytes this thread has allocated so far. */
  static long ofThisThread() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
