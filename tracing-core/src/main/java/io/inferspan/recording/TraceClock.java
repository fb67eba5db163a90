package io.inferspan.recording;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.trace.ReadableSpan;

/**
 * The clock of one trace. It reads the wall clock once, at the trace's first span in this process,
 * and measures later times from there, so that no child starts before its parent.
 */
final class TraceClock {

  private final Clock clock;
  private final long epochNanos;
  private final long nanoTime;

  private TraceClock(Clock clock, long epochNanos) {
    this.clock = clock;
    this.epochNanos = epochNanos;
    this.nanoTime = clock.nanoTime();
  }

  /** Returns the clock for a child of {@code parent}. */
  static TraceClock of(Span parent, Clock clock) {
    if (parent instanceof RecordingSpan ours) {
      return ours.clock();
    }
    if (parent instanceof ReadableSpan other && !other.hasEnded()) {
      // The SDK does not expose its clock, so the time is derived from the span's latency.
      long start = other.toSpanData().getStartEpochNanos();
      return new TraceClock(clock, start + other.getLatencyNanos());
    }
    return new TraceClock(clock, clock.now());
  }

  long now() {
    return epochNanos + (clock.nanoTime() - nanoTime);
  }
}
