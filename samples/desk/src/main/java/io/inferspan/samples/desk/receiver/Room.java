package io.inferspan.samples.desk.receiver;

import java.util.concurrent.atomic.AtomicLong;

/** The bytes that bodies may take while they come in, all calls together. */
final class Room {

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  Room(long bytes) {
    this.bytes = bytes;
  }

  /** Whether there was room, which is taken then. */
  boolean take(int count) {
    if (taken.addAndGet(count) <= bytes) {
      return true;
    }
    taken.addAndGet(-count);
    return false;
  }

  void giveBack(long count) {
    taken.addAndGet(-count);
  }
}
