package io.inferspan.kvcache.events;

import java.lang.management.ManagementFactory;

/** What threads allocate. */
final class Allocations {

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocations() {}

  /** How many bytes this thread has allocated so far. */
  static long ofThisThread() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
