package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.EventClass;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The cost of changing levels and of trials, and when the budget has covered it. Costs are the time
 * in which they are the whole budget.
 */
final class ChangeCosts {

  /** The debt with which a class may still be attached. */
  static final double MOST_DEBT_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

  /** The time in which the unused part of the budget must cover the debt. */
  private static final double DEBT_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The share of the budget for trials of classes that probably do not fit. */
  private static final double FOR_TRIALS = 0.2;

  private static final long MOST_TRIAL_WAIT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * The longest wait for a trial after several changes. When an agent starts, its code is slow, and
   * changes are many; the wait for one expensive change may be longer.
   */
  private static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Map<EventClass, Long> nextTrials = new EnumMap<>(EventClass.class);

  /** What the unused part of the budget has not covered yet. */
  private double debtNanos;

  private long paidUntil;

  /** When {@link #FOR_TRIALS} of the budget will have covered all costs. */
  private long nextTrial;

  ChangeCosts(long nowNanos) {
    paidUntil = nowNanos;
    nextTrial = nowNanos;
  }

  /** Adds a cost; {@code unused} is the share of the budget that was left until now. */
  void add(double costNanos, double unused, long nowNanos) {
    pay(unused, nowNanos);
    debtNanos = Math.min(debtNanos + costNanos, (double) MOST_TRIAL_WAIT_NANOS);
    long all = later(Math.max(nextTrial, nowNanos), costNanos);
    nextTrial = Math.max(later(nowNanos, costNanos), Math.min(all, nowNanos + MOST_WAIT_NANOS));
  }

  /** Covers costs with the share of the budget that was left until now. */
  void pay(double unused, long nowNanos) {
    debtNanos = Math.max(0, debtNanos - (nowNanos - paidUntil) * share(unused));
    paidUntil = nowNanos;
  }

  /** Returns whether costs are covered so far that a class that fits can be attached. */
  boolean mayAttach() {
    return debtNanos <= MOST_DEBT_NANOS;
  }

  /** Returns the share of the budget that is needed to cover the costs soon. */
  double reserved() {
    return debtNanos / DEBT_NANOS;
  }

  /** Returns the time until at most this debt is left. */
  long untilPaidNanos(double debt, double unused) {
    return (long) (Math.max(0, debtNanos - debt) / share(unused));
  }

  /**
   * Delays the next trial of a class that probably does not fit, until its share of the budget for
   * trials has covered this cost.
   */
  void delayTrial(EventClass events, double costNanos, long nowNanos) {
    nextTrials.put(events, later(nowNanos, costNanos));
  }

  /** Returns when a class that probably does not fit may be tried. */
  long nextTrial(EventClass events, long nowNanos) {
    return Math.max(nextTrial, nextTrials.getOrDefault(events, nowNanos));
  }

  private static double share(double unused) {
    return Math.max(FOR_TRIALS, unused);
  }

  private static long later(long nanos, double costNanos) {
    return nanos + Math.min(MOST_TRIAL_WAIT_NANOS, (long) (costNanos / FOR_TRIALS));
  }
}
