package io.inferspan.ebpf.live;

import io.inferspan.ebpf.context.ContextSignal;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * After a time without a sampled request, detaches the probes that are only needed during requests,
 * and attaches them again at the next request.
 *
 * <p>The ring's thread reports requests of other processes, and this process's threads report their
 * own. While the probes are attached, one report per second is enough. Only the thread that follows
 * processes attaches and detaches, in {@link #check}.
 */
final class IdleController {

  private final long afterNanos;
  private final Probes probes;
  private final ContextSignal signal;
  private final AtomicBoolean active = new AtomicBoolean();
  private volatile boolean asleep;
  private volatile long sleeps;
  private volatile boolean begun;
  private long lastActiveNanos = System.nanoTime();

  /** The probes that are only needed during requests. */
  interface Probes {

    /** Returns whether a sampled request is open. */
    boolean areServing();

    /** Detaches the probes. */
    void sleep();

    /** Attaches the probes again. */
    void wake();

    /**
     * Makes the thread that follows processes call {@link IdleController#check} soon; never blocks.
     */
    void callSoon();

    /**
     * Notes a request of this process's threads that began while the probes were detached; never
     * blocks.
     */
    void beganUnseen(long owner);
  }

  /** Creates a controller that never detaches if {@code afterNanos} is zero. */
  IdleController(long afterNanos, Probes probes) {
    this.afterNanos = afterNanos;
    this.probes = probes;
    this.signal = new ContextSignal(this::requestBegan);
  }

  /** Starts measuring the time without a request. All probes are attached. */
  void begin() {
    begun = true;
  }

  /** Returns the signal through which this process's threads report their requests. */
  ContextSignal signal() {
    return signal;
  }

  /** Notes a sampled request of another process. */
  void requestBegan() {
    if (signal.isOn()) {
      note();
    }
  }

  private void requestBegan(long owner) {
    if (asleep) {
      probes.beganUnseen(owner);
    }
    note();
  }

  /**
   * Notes a request. Sets {@code active} before it reads {@code asleep}, while {@link #sleep} does
   * the reverse, so that no request is missed.
   */
  private void note() {
    if (!asleep) {
      signal.enable(false);
    }
    active.set(true);
    if (asleep) {
      probes.callSoon();
    }
  }

  /**
   * Detaches or attaches the probes if needed. Called about once a second, and after {@link
   * Probes#callSoon}.
   */
  void check() {
    if (afterNanos == 0 || !begun) {
      return;
    }
    boolean busy = active.getAndSet(false);
    signal.enable(true);
    busy |= probes.areServing();
    long now = System.nanoTime();
    if (busy) {
      lastActiveNanos = now;
      wake();
    } else if (!asleep && now - lastActiveNanos >= afterNanos) {
      sleep();
    }
  }

  private void sleep() {
    asleep = true;
    if (active.get()) {
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

  /** Returns whether the probes are detached; true until all are attached again. */
  boolean isAsleep() {
    return asleep;
  }

  /** Returns how often the probes were detached. */
  long sleeps() {
    return sleeps;
  }
}
