package io.inferspan.ebpf.spans;

/**
 * When the probes were taken off, so that a request that began meanwhile can say how much of it was
 * seen. Any thread may ask.
 */
public final class WatchedTime {

  /** A request that is older than so many pauses says of the later ones only. */
  private static final int HISTORY = 64;

  private final long[] paused = new long[HISTORY];
  private final long[] resumed = new long[HISTORY];
  private long pauses;

  /** Probes that never were off. */
  WatchedTime() {}

  /** The probes are about to be taken off, if they are on. */
  public synchronized void pause(long nowNanos) {
    int slot = (int) (pauses++ % HISTORY);
    paused[slot] = nowNanos;
    resumed[slot] = Long.MAX_VALUE;
  }

  /** They are on again. */
  public synchronized void resume(long nowNanos) {
    resumed[(int) ((pauses - 1) % HISTORY)] = nowNanos;
  }

  /** The share of that time in which the probes were on. */
  synchronized double share(long startNanos, long endNanos) {
    long end = Math.max(endNanos, startNanos + 1);
    long off = 0;
    for (int slot = 0; slot < Math.min(pauses, HISTORY); slot++) {
      off += Math.max(0, Math.min(end, resumed[slot]) - Math.max(startNanos, paused[slot]));
    }
    return 1 - off / (double) (end - startNanos);
  }
}
