package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The spans of one trace. Not thread-safe: {@link SpanStore} calls it under its lock. */
final class StoredTrace {

  /** The estimated memory of a trace and its summary, without spans. */
  static final int OVERHEAD_BYTES = 1_024;

  private final TraceId id;
  private final List<StoredSpan> spans = new ArrayList<>(4);
  private long bytes = OVERHEAD_BYTES;

  /** The number of spans that were dropped because the trace was full. */
  private long cut;

  private long lastArrivalNanos;
  private long summarisedNanos;

  /** Whether the store has dropped the trace. */
  private boolean gone;

  private @Nullable Summary summary;

  StoredTrace(TraceId id) {
    this.id = id;
  }

  TraceId id() {
    return id;
  }

  int size() {
    return spans.size();
  }

  long bytes() {
    return bytes;
  }

  void add(StoredSpan span) {
    spans.add(span);
    bytes += span.cost();
  }

  boolean has(Predicate<StoredSpan> wanted) {
    for (StoredSpan span : spans) {
      if (wanted.test(span)) {
        return true;
      }
    }
    return false;
  }

  /** Counts a span that was dropped because the trace was full. */
  void cutOne() {
    cut++;
  }

  void arrived(long nowNanos) {
    lastArrivalNanos = nowNanos;
  }

  long lastArrivalNanos() {
    return lastArrivalNanos;
  }

  void summarised(@Nullable Summary made, long nowNanos) {
    summary = made;
    summarisedNanos = nowNanos;
  }

  long summarisedNanos() {
    return summarisedNanos;
  }

  @Nullable Summary summary() {
    return summary;
  }

  /** Marks the trace as dropped from the store. */
  void leave() {
    gone = true;
  }

  boolean isGone() {
    return gone;
  }

  TraceSpans snapshot(boolean quiet) {
    return new TraceSpans(id, List.copyOf(spans), cut, quiet);
  }
}
