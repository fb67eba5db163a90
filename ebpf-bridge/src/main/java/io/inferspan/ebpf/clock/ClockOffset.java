package io.inferspan.ebpf.clock;

import org.jspecify.annotations.Nullable;

/**
 * The offset of another host's clock from ours, as an interval.
 *
 * <p>A message arrives after it was sent, so each message to the other host gives an upper limit of
 * the offset, and each message from it a lower limit, whatever the delay. Clocks drift, so limits
 * widen with age, and old ones are dropped. If limits contradict each other, a clock was set, and
 * the estimate starts again.
 */
public final class ClockOffset {

  /** The maximum drift between two clocks, each of which may be 50 ppm off. */
  private static final double DRIFT = 100e-6;

  /** Limits are dropped after this time, because a clock may have been set unnoticed. */
  static final long FORGOTTEN_NANOS = 10_000_000_000L;

  private Limits now = new Limits(Long.MIN_VALUE);
  private Limits before = now;
  private long timesSet;

  /**
   * An estimate of the offset.
   *
   * @param offsetNanos the middle of the interval
   * @param errorNanos the maximum error of {@code offsetNanos}
   */
  public record Interval(long offsetNanos, long errorNanos) {}

  /** The tightest limits of one period. */
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

  /** Adds a message that we sent at {@code ours} and the other host received at {@code theirs}. */
  public void sent(long ours, long theirs) {
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

  /** Adds a message that the other host sent at {@code theirs} and we received at {@code ours}. */
  public void received(long theirs, long ours) {
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

  /** Returns how often the estimate started again. */
  public long timesSet() {
    return timesSet;
  }

  /** Returns the interval at this time of our clock; null without messages in both directions. */
  public @Nullable Interval at(long nanos) {
    double least = least(nanos);
    double most = most(nanos);
    if (Double.isInfinite(least) || Double.isInfinite(most)) {
      return null;
    }
    return new Interval(Math.round((least + most) / 2), (long) Math.ceil((most - least) / 2));
  }
}
