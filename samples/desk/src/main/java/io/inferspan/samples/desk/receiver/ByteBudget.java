package io.inferspan.samples.desk.receiver;

import java.util.concurrent.atomic.AtomicLong;

/** A budget of bytes for bodies being read, shared by all calls. */
final class ByteBudget {

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Takes bytes from the budget; returns false if there are not enough. */
  boolean take(int count) {
    if (taken.addAndGet(count) <= bytes) {
      return true;
    }
    taken.addAndGet(-count);
    return false;
  }

  void release(long count) {
    taken.addAndGet(-count);
  }
}
