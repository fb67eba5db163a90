package io.inferspan.samples.desk.receiver;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the memory of all request bodies that are being received. */
final class ByteBudget {

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Reserves bytes; returns false if the limit would be exceeded. */
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
