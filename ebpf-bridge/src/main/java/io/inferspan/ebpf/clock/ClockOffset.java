package io.inferspan.ebpf.clock;

import org.jspecify.annotations.Nullable;

/**
 * The offset of another host's clock from ours, as an interval.
 *
 * <p>A message arrives after it was sent, so each message to the other host gives an upper limit of
 * the offset, and each message from that host gives a lower limit, whatever the delay. Clocks
 * drift, so limits widen with age, and old ones are dropped. If limits contradict each other, a
 * clock was set, and the estimate starts again.
 */
public final class ClockOffset {

  /** The maximum relative drift between two clocks that are each off by at most 50 ppm. */
  private static final double DRIFT = 100e-6;

  /**
   * The length of a period. Limits are dropped after one to two periods, because a clock may have
   * been set unnoticed.
   */
  static final long PERIOD_NANOS = 10_000_000_000L;

  private Limits current = new Limits(Long.MIN_VALUE);
  private Limits previous = current;
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
    private double lower = Double.NEGATIVE_INFINITY;
    private double upper = Double.POSITIVE_INFINITY;
    private long lowerNanos;
    private long upperNanos;

    private Limits(long beganNanos) {
      this.beganNanos = beganNanos;
    }

    private double lower(long nanos) {
      return lower - DRIFT * Math.abs(nanos - lowerNanos);
    }

    private double upper(long nanos) {
      return upper + DRIFT * Math.abs(nanos - upperNanos);
    }
  }

  /** Adds a message that we sent at {@code ours} and the other host received at {@code theirs}. */
  public void sent(long ours, long theirs) {
    rotate(ours);
    double limit = (double) theirs - ours;
    if (limit < lower(ours)) {
      restart(ours);
    }
    if (limit < current.upper(ours)) {
      current.upper = limit;
      current.upperNanos = ours;
    }
  }

  /** Adds a message that the other host sent at {@code theirs} and we received at {@code ours}. */
  public void received(long theirs, long ours) {
    rotate(ours);
    double limit = (double) theirs - ours;
    if (limit > upper(ours)) {
      restart(ours);
    }
    if (limit > current.lower(ours)) {
      current.lower = limit;
      current.lowerNanos = ours;
    }
  }

  private void rotate(long nanos) {
    if (current.beganNanos == Long.MIN_VALUE || nanos - current.beganNanos >= PERIOD_NANOS) {
      previous = current;
      current = new Limits(nanos);
    }
  }

  private void restart(long nanos) {
    timesSet++;
    current = new Limits(nanos);
    previous = current;
  }

  private double lower(long nanos) {
    return Math.max(current.lower(nanos), previous.lower(nanos));
  }

  private double upper(long nanos) {
    return Math.min(current.upper(nanos), previous.upper(nanos));
  }

  /** Returns how often the estimate started again. */
  public long timesSet() {
    return timesSet;
  }

  /** Returns the interval at this time of our clock; null without messages in both directions. */
  public @Nullable Interval at(long nanos) {
    double lower = lower(nanos);
    double upper = upper(nanos);
    if (Double.isInfinite(lower) || Double.isInfinite(upper)) {
      return null;
    }
    return new Interval(Math.round((lower + upper) / 2), (long) Math.ceil((upper - lower) / 2));
  }
}
