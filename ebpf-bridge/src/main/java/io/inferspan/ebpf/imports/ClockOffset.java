package io.inferspan.ebpf.imports;

import org.jspecify.annotations.Nullable;

/**
 * How far another clock is ahead of ours, as an interval, from messages between the two.
 *
 * <p>A message arrives after it was sent. So each one to the other side limits the offset from
 * above, and each one from there from below, however long it took. Clocks drift, so limits widen
 * with their age, and old ones are forgotten. Limits that contradict each other mean that a clock
 * was set: only the newest counts then.
 */
final class ClockOffset {

  /** What two clocks may drift apart. Each may be 50 ppm off. */
  private static final double DRIFT = 100e-6;

  /** A clock may have been set since, by less than would show. */
  private static final long FORGOTTEN_NANOS = 10_000_000_000L;

  private Limits now = new Limits(Long.MIN_VALUE);
  private Limits before = now;
  private long timesSet;

  /**
   * What is known of the offset.
   *
   * @param offsetNanos the middle of the interval
   * @param errorNanos the most that the offset can differ from that
   */
  record Interval(long offsetNanos, long errorNanos) {}

  /** The tightest limits of one stretch of time. */
  private static final class Limits {
    private final long beganNanos;
    private double least = Double.NEGATIVE_INFINITY;
    private double most = Double.POSITIVE_INFINITY;
    private long leastNanos;
    private long mostNanos;

    private Limits(long beganNanos) {
      this.beganNanos = beganNanos;
    }

    private double least(long nanos) {
      return least - DRIFT * Math.abs(nanos - leastNanos);
    }

    private double most(long nanos) {
      return most + DRIFT * Math.abs(nanos - mostNanos);
    }
  }

  /** A message that we sent at {@code ours} was received at {@code theirs}. */
  void sent(long ours, long theirs) {
    turn(ours);
    double limit = (double) theirs - ours;
    if (limit < least(ours)) {
      restart(ours);
    }
    if (limit < now.most(ours)) {
      now.most = limit;
      now.mostNanos = ours;
    }
  }

  /** A message that was sent at {@code theirs} reached us at {@code ours}. */
  void received(long theirs, long ours) {
    turn(ours);
    double limit = (double) theirs - ours;
    if (limit > most(ours)) {
      restart(ours);
    }
    if (limit > now.least(ours)) {
      now.least = limit;
      now.leastNanos = ours;
    }
  }

  private void turn(long nanos) {
    if (now.beganNanos == Long.MIN_VALUE || nanos - now.beganNanos >= FORGOTTEN_NANOS) {
      before = now;
      now = new Limits(nanos);
    }
  }

  private void restart(long nanos) {
    timesSet++;
    now = new Limits(nanos);
    before = now;
  }

  private double least(long nanos) {
    return Math.max(now.least(nanos), before.least(nanos));
  }

  private double most(long nanos) {
    return Math.min(now.most(nanos), before.most(nanos));
  }

  /** How often what came contradicted what was known. */
  long timesSet() {
    return timesSet;
  }

  /** Returns the interval at this time of our clock; null without messages in both directions. */
  @Nullable Interval at(long nanos) {
    double least = least(nanos);
    double most = most(nanos);
    if (Double.isInfinite(least) || Double.isInfinite(most)) {
      return null;
    }
    return new Interval(Math.round((least + most) / 2), (long) Math.ceil((most - least) / 2));
  }
}
