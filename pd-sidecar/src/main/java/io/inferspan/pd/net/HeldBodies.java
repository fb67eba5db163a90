package io.inferspan.pd.net;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of all bodies, of requests and of answers.
 *
 * <p>The bodies for one prefill pod may use half of it, so that a pod that hangs leaves room for
 * the others. A single body may use more, if the pod's other bodies use at most a sixteenth of the
 * budget.
 */
public final class HeldBodies {
  private final long limit;
  private final AtomicLong bytes = new AtomicLong();
  private final Map<String, Long> bytesByPod = new ConcurrentHashMap<>();

  public HeldBodies(long limit) {
    this.limit = limit;
  }

  public long limit() {
    return limit;
  }

  public long bytes() {
    return bytes.get();
  }

  public HeldBody open() {
    return new HeldBody(this, null);
  }

  /**
   * Opens the body of a request.
   *
   * @param pod the prefill pod; null if the request has none
   */
  public HeldBody open(@Nullable String pod) {
    return new HeldBody(this, pod);
  }

  /** Reserves this many bytes, or none if fewer are left. */
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

  public boolean hasRoom(long more) {
    return bytes.get() + more <= limit;
  }

  /** Counts bytes without checking the limit, for copies that a request needs to continue. */
  public void add(long more) {
    bytes.addAndGet(more);
  }

  public void give(long less) {
    bytes.addAndGet(-less);
  }
}
