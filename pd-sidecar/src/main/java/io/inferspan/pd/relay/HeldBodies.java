package io.inferspan.pd.relay;

import java.util.concurrent.atomic.AtomicLong;

/** The memory that bodies of requests may take while they are held, of all requests together. */
public final class HeldBodies {
  private final long limit;
  private final AtomicLong bytes = new AtomicLong();

  public HeldBodies(long limit) {
    this.limit = limit;
  }

  /** The most that may be held. */
  public long limit() {
    return limit;
  }

  /** How much is held now. */
  public long bytes() {
    return bytes.get();
  }

  /** Opens the share of one body, which takes nothing yet. */
  public Share open() {
    return new Share();
  }

  private boolean take(long more) {
    if (bytes.addAndGet(more) <= limit) {
      return true;
    }
    bytes.addAndGet(-more);
    return false;
  }

  /**
   * What one body takes; given back when the last who needs the body lets go of it.
   *
   * <p>It is used on one event loop only.
   */
  public final class Share {
    private long taken;
    private int users = 1;

    private Share() {}

    /** Takes so much more, or nothing where there is not as much left. */
    boolean grow(long more) {
      boolean fits = users > 0 && take(more);
      if (fits) {
        taken += more;
      }
      return fits;
    }

    /** Somebody else needs the body as well, and calls {@link #release} as well. */
    public void retain() {
      users++;
    }

    /** One of those who need the body needs it no longer. */
    public void release() {
      users--;
      if (users == 0) {
        bytes.addAndGet(-taken);
      }
    }
  }
}
