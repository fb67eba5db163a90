package io.inferspan.ebpf;

import io.inferspan.ebpf.context.Doorbell;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Has the probes that only serve requests sleep when no sampled request was under way for a while,
 * and wakes them for the next one.
 *
 * <p>Whoever sees a request begin says so: the ring's thread, or an own thread that rings. While
 * the probes are on, one word a second is enough. Only the bridge's own thread looks, and only that
 * attaches and detaches.
 */
final class Vigil {

  private final long afterNanos;
  private final Probes probes;
  private final Doorbell bell;
  private final AtomicBoolean heard = new AtomicBoolean();
  private volatile boolean asleep;
  private volatile long sleeps;
  private volatile boolean begun;
  private long lastHeardNanos = System.nanoTime();

  /** What sleeps. */
  interface Probes {

    /** Whether a sampled request is under way. */
    boolean areServing();

    /** Takes them off. */
    void sleep();

    /** Puts them back. */
    void wake();

    /** Has the bridge's own thread {@link Vigil#look} soon; any thread, and never waits. */
    void callSoon();

    /** A request of an own thread begins while they sleep; any thread, and never waits. */
    void beganUnseen(long traceIdHigh, long traceIdLow, long spanId);
  }

  /** Probes that sleep after so long a time; that are never taken off where it is zero. */
  Vigil(long afterNanos, Probes probes) {
    this.afterNanos = afterNanos;
    this.probes = probes;
    this.bell = new Doorbell(this::rang);
  }

  /** The probes are on, and may sleep from now on. */
  void begin() {
    begun = true;
  }

  /** Rung by own threads. */
  Doorbell bell() {
    return bell;
  }

  /** A sampled request of another process has begun. */
  void heard() {
    if (bell.isHeard()) {
      note();
    }
  }

  private void rang(long traceIdHigh, long traceIdLow, long spanId) {
    if (asleep) {
      probes.beganUnseen(traceIdHigh, traceIdLow, spanId);
    }
    note();
  }

  /** Said before it is asked whether they sleep, as the other side does it the other way round. */
  private void note() {
    if (!asleep) {
      bell.listen(false);
    }
    heard.set(true);
    if (asleep) {
      probes.callSoon();
    }
  }

  /** About once a second, and when called; on the bridge's own thread only. */
  void look() {
    if (afterNanos == 0 || !begun) {
      return;
    }
    boolean disturbed = heard.getAndSet(false);
    bell.listen(true);
    disturbed |= probes.areServing();
    long now = System.nanoTime();
    if (disturbed) {
      lastHeardNanos = now;
      wake();
    } else if (!asleep && now - lastHeardNanos >= afterNanos) {
      sleep();
    }
  }

  private void sleep() {
    asleep = true;
    if (heard.get()) {
      asleep = false;
    } else {
      countSleep();
      probes.sleep();
    }
  }

  private void wake() {
    if (asleep) {
      probes.wake();
      asleep = false;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void countSleep() {
    sleeps++;
  }

  /** Whether they sleep now; while they are put back, they still do. */
  boolean isAsleep() {
    return asleep;
  }

  /** How often they fell asleep. */
  long sleeps() {
    return sleeps;
  }
}
