package io.inferspan.gateway.extproc.grpc;

import java.util.concurrent.atomic.AtomicLong;

/** What all that is held may take together: messages that still come in, and bodies that wait. */
public final class HeldBytes {

  private final long maxBytes;
  private final AtomicLong held = new AtomicLong();

  /** Room for so many bytes. */
  public HeldBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whether there is room for so many more, which then count. */
  public boolean take(long bytes) {
    boolean fits = held.addAndGet(bytes) <= maxBytes;
    if (!fits) {
      held.addAndGet(-bytes);
    }
    return fits;
  }

  /** So many count no longer. */
  public void giveBack(long bytes) {
    held.addAndGet(-bytes);
  }

  /** How many there are. */
  public long now() {
    return held.get();
  }
}
