package io.inferspan.ebpf.spans;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Converts times of CLOCK_MONOTONIC, the clock of events, to epoch times for spans.
 *
 * <p>The difference between the two changes when NTP slews the wall clock, an administrator sets
 * it, or the machine is suspended. It is therefore measured ten times a second, between two
 * readings of the monotonic clock, and interpolated between measurements. If it jumped between two
 * measurements, the nearer one is used.
 */
public final class KernelClock {

  private static final int HISTORY = 256;
  private static final int TRIES = 5;
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** NTP does not slew half a millisecond in a tenth of a second, so this is a jump. */
  private static final long JUMP_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

  private final LongSupplier monotonic;
  private final LongSupplier realtime;
  private final long[] times = new long[HISTORY];
  private final long[] offsets = new long[HISTORY];
  private long samples;
  private volatile long errorNanos;

  /** Creates a converter between two clocks, both in nanoseconds. */
  public KernelClock(LongSupplier monotonic, LongSupplier realtime) {
    this.monotonic = monotonic;
    this.realtime = realtime;
    sample();
  }

  /** Measures again if the last measurement is too old. */
  void refresh() {
    if (monotonic.getAsLong() - times[slot(samples - 1)] >= INTERVAL_NANOS) {
      sample();
    }
  }

  private void sample() {
    long narrowest = Long.MAX_VALUE;
    long middle = 0;
    long offset = 0;
    for (int i = 0; i < TRIES; i++) {
      long before = monotonic.getAsLong();
      long wall = realtime.getAsLong();
      long width = monotonic.getAsLong() - before;
      if (width < narrowest) {
        narrowest = width;
        middle = before + width / 2;
        offset = wall - middle;
      }
    }
    times[slot(samples)] = middle;
    offsets[slot(samples)] = offset;
    errorNanos = (narrowest + 1) / 2;
    samples++;
  }

  /** Returns the epoch time of a monotonic time. */
  public long epochNanos(long monotonicNanos) {
    long after = samples;
    long oldest = Math.max(0, samples - HISTORY);
    while (after > oldest && times[slot(after - 1)] > monotonicNanos) {
      after--;
    }
    if (after == samples) {
      return monotonicNanos + offsets[slot(samples - 1)];
    }
    if (after == oldest) {
      return monotonicNanos + offsets[slot(oldest)];
    }
    return monotonicNanos + between(slot(after - 1), slot(after), monotonicNanos);
  }

  private long between(int before, int after, long monotonicNanos) {
    long step = offsets[after] - offsets[before];
    long elapsed = monotonicNanos - times[before];
    long span = times[after] - times[before];
    if (Math.abs(step) < JUMP_NANOS) {
      return offsets[before] + Math.round((double) step * elapsed / span);
    }
    return elapsed < span / 2 ? offsets[before] : offsets[after];
  }

  private static int slot(long sample) {
    return (int) (sample % HISTORY);
  }

  /** Returns the maximum error of the last measurement. Any thread may call this. */
  public long errorNanos() {
    return errorNanos;
  }
}
