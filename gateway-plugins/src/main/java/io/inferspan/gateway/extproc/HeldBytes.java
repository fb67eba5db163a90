package io.inferspan.gateway.extproc;

import java.util.concurrent.atomic.AtomicLong;

/** What all that is held may take together: messages that still come in, and bodies that wait. */
final class HeldBytes {

  private final long maxBytes;
  private final AtomicLong held = new AtomicLong();

  HeldBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whether there is room for so many more, which then count. */
  boolean take(long bytes) {
    boolean fits = held.addAndGet(bytes) <= maxBytes;
    if (!fits) {
      held.addAndGet(-bytes);
    }
    return fits;
  }

  void giveBack(long bytes) {
    held.addAndGet(-bytes);
  }

  long now() {
    return held.get();
  }
}
