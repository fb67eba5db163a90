package io.inferspan.recording;

import io.opentelemetry.sdk.common.Clock;

/**
 * The time within one trace: the wall clock is read once, at its first span here, and what follows
 * is measured from there, so that no child begins before its parent.
 */
final class TraceClock {

  private final Clock clock;
  private final long epochNanos;
  private final long nanoTime;

  TraceClock(Clock clock) {
    this.clock = clock;
    this.epochNanos = clock.now();
    this.nanoTime = clock.nanoTime();
  }

  long now() {
    return epochNanos + (clock.nanoTime() - nanoTime);
  }
}
