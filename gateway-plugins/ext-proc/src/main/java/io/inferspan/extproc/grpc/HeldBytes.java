package io.inferspan.extproc.grpc;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the total size of held bytes: messages being received, and buffered bodies. */
public final class HeldBytes {

  private final long maxBytes;
  private final AtomicLong held = new AtomicLong();

  /** Creates a limit of this many bytes. */
  public HeldBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Reserves this many bytes; returns false if the limit is exceeded. */
  public boolean reserve(long bytes) {
    boolean fits = held.addAndGet(bytes) <= maxBytes;
    if (!fits) {
      held.addAndGet(-bytes);
    }
    return fits;
  }

  /** Releases this many bytes. */
  public void release(long bytes) {
    held.addAndGet(-bytes);
  }

  /** Returns the number of held bytes. */
  public long held() {
    return held.get();
  }
}
