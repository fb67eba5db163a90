package io.inferspan.testing;

import io.opentelemetry.sdk.common.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that a test advances, for exact durations without sleeping.
 *
 * <p>Wall time and {@link #nanoTime} move together. Any thread may read or advance the clock.
 */
public final class ManualClock implements Clock {
  /** The initial time of a clock from {@link #create()}. */
  public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final long startEpochNanos;
  private final AtomicLong elapsedNanos = new AtomicLong();

  private ManualClock(Instant start) {
    startEpochNanos =
        Math.addExact(TimeUnit.SECONDS.toNanos(start.getEpochSecond()), start.getNano());
  }

  /** Returns a clock that shows {@link #START}. */
  public static ManualClock create() {
    return new ManualClock(START);
  }

  /** Returns a clock that shows the given instant. */
  public static ManualClock startingAt(Instant start) {
    return new ManualClock(start);
  }

  /** Moves the clock forward. */
  public void advance(Duration by) {
    if (by.isNegative()) {
      throw new IllegalArgumentException("a ManualClock cannot be moved backwards, by " + by);
    }
    elapsedNanos.addAndGet(by.toNanos());
  }

  /** Returns the wall time in nanoseconds since the epoch. */
  @Override
  public long now() {
    return startEpochNanos + elapsedNanos.get();
  }

  /** Returns the nanoseconds since this clock was created. */
  @Override
  public long nanoTime() {
    return elapsedNanos.get();
  }
}
