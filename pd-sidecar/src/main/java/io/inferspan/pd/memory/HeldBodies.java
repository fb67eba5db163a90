package io.inferspan.pd.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of all bodies, of requests and of answers.
 *
 * <p>Bodies for one prefill pod may take half of it, so that a pod that hangs leaves room for the
 * others. One body may take more, if the pod's other bodies take hardly anything.
 */
public final class HeldBodies {
  private final long limit;
  private final AtomicLong bytes = new AtomicLong();
  private final Map<String, Long> bytesByPod = new ConcurrentHashMap<>();

  public HeldBodies(long limit) {
    this.limit = limit;
  }

  /** The most that may be held. */
  public long limit() {
    return limit;
  }

  /** Returns the number of bytes held now. */
  public long bytes() {
    return bytes.get();
  }

  /** Opens a body that takes nothing yet. */
  public HeldBody open() {
    return new HeldBody(this, null);
  }

  /** Opens the body of a request for a prefill pod; null for none. */
  public HeldBody open(@Nullable String pod) {
    return new HeldBody(this, pod);
  }

  /** Takes so much more, or nothing where there is not as much left. */
  boolean take(long more) {
    if (bytes.addAndGet(more) <= limit) {
      return true;
    }
    bytes.addAndGet(-more);
    return false;
  }

  /**
   * Reserves bytes for a pod whose body already holds {@code own} bytes; returns false if the limit
   * is exceeded.
   */
  boolean takeForPod(String pod, long own, long more) {
    boolean[] fits = new boolean[1];
    bytesByPod.compute(
        pod,
        (_, before) -> {
          long taken = before == null ? 0 : before;
          fits[0] = taken + more <= limit / 2 || taken - own <= limit / 16;
          return fits[0] ? Long.valueOf(taken + more) : before;
        });
    return fits[0];
  }

  void giveForPod(String pod, long less) {
    bytesByPod.computeIfPresent(pod, (_, before) -> before == less ? null : before - less);
  }

  /** Returns whether there is space for so many bytes now. */
  public boolean hasRoom(long more) {
    return bytes.get() + more <= limit;
  }

  /** Counts a copy that is needed to make progress. */
  public void add(long more) {
    bytes.addAndGet(more);
  }

  /** The copy is gone. */
  public void give(long less) {
    bytes.addAndGet(-less);
  }
}
