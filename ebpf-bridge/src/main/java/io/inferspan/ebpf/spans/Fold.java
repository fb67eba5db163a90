package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import org.jspecify.annotations.Nullable;

/** Events of one request and kind that share a span, with their exact count and total duration. */
final class Fold {

  private final HeldEvent first = new HeldEvent();
  private final Durations durations = new Durations();
  private long key;
  private boolean uniform;
  private long failures;
  private long amount;
  private long firstStartNanos;
  private long lastStartNanos;
  private long lastEndNanos;

  /** Resets the fold for events with the process, source and detail of {@code view}. */
  Fold begin(EventView view, Kind kind, long detailKey, @Nullable String label) {
    first.take(view, kind, label);
    durations.clear();
    key = detailKey;
    uniform = true;
    failures = 0;
    amount = 0;
    firstStartNanos = Long.MAX_VALUE;
    lastStartNanos = Long.MIN_VALUE;
    lastEndNanos = Long.MIN_VALUE;
    return this;
  }

  /** Resets the fold for all events of this kind, of any process, source and detail. */
  Fold beginMixed(EventView view, Kind kind) {
    begin(view, kind, 0, null);
    uniform = false;
    return this;
  }

  boolean takes(EventView view, Kind kind, long detailKey) {
    return uniform
        && first.kind == kind
        && key == detailKey
        && first.tgid == view.tgid()
        && first.source == view.source();
  }

  boolean takesMixed(Kind kind) {
    return !uniform && first.kind == kind;
  }

  void add(EventView view) {
    long start = view.startNanos();
    long end = view.endNanos();
    durations.add(end - start);
    firstStartNanos = Math.min(firstStartNanos, start);
    lastStartNanos = Math.max(lastStartNanos, start);
    lastEndNanos = Math.max(lastEndNanos, end);
    int result = view.result();
    if (first.kind.family().failed(result)) {
      failures++;
    }
    long added = amount + view.amount();
    // A wrong amount must not make the sum overflow.
    amount = added < 0 ? Long.MAX_VALUE : added;
  }

  /** Returns the first event, whose process, source and detail the span gets. */
  HeldEvent first() {
    return first;
  }

  /** Returns whether all events have the process, the source and the detail of the first. */
  boolean isUniform() {
    return uniform;
  }

  Durations durations() {
    return durations;
  }

  long failures() {
    return failures;
  }

  long amount() {
    return amount;
  }

  long firstStartNanos() {
    return firstStartNanos;
  }

  long lastStartNanos() {
    return lastStartNanos;
  }

  long lastEndNanos() {
    return lastEndNanos;
  }
}
