package io.inferspan.exporter;

import io.inferspan.export.SpanCounts;
import io.inferspan.recording.SpanIntake;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the spans that a {@code Telemetry} started, exported and lost, with reasons.
 *
 * <p>After {@link #close()}, {@code started = exported + dropped}.
 */
public final class ExportAccounting implements SpanIntake {

  private final LongAdder started = new LongAdder();
  private final LongAdder unsampled = new LongAdder();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong processed = new AtomicLong();
  private final LongAdder exported = new LongAdder();
  private final LongAdder queueFull = new LongAdder();
  private final LongAdder exportFailed = new LongAdder();
  private final LongAdder exports = new LongAdder();
  private final LongAdder failedExports = new LongAdder();
  private final LongAdder exportNanos = new LongAdder();
  private final int capacity;
  private volatile boolean stopped;
  private boolean closed;

  /** Creates the accounting for a queue of {@code capacity} spans. */
  public ExportAccounting(int capacity) {
    this.capacity = capacity;
  }

  /** Counts a span that is recorded. */
  void started() {
    started.increment();
  }

  /** Counts an unsampled span. */
  public void unsampled() {
    unsampled.increment();
  }

  /** Counts a span that has ended; returns false if the queue is full. */
  boolean admit() {
    if (ended.incrementAndGet() - processed.get() <= capacity) {
      return true;
    }
    queueFull.increment();
    processed.incrementAndGet();
    return false;
  }

  /**
   * Returns whether at most an eighth of the queue is free, which may be too little for all spans
   * of a new request.
   */
  @Override
  public boolean isNearlyFull() {
    return ended.get() - processed.get() >= capacity - capacity / 8;
  }

  /** Counts a span that is not recorded because the export queue is nearly full. */
  @Override
  public void refused() {
    started.increment();
    ended.incrementAndGet();
    queueFull.increment();
    processed.incrementAndGet();
  }

  /** Stops accepting spans of {@code Telemetry.tracer}; {@code SpanFactory} stops all others. */
  public void stop() {
    stopped = true;
  }

  @Override
  public boolean isStopped() {
    return stopped;
  }

  /** Counts a batch that has left the queue. */
  synchronized void batchEnded(int spans, boolean success, long nanos) {
    if (closed) {
      return;
    }
    processed.addAndGet(spans);
    (success ? exported : exportFailed).add(spans);
    exports.increment();
    exportNanos.add(nanos);
    if (!success) {
      failedExports.increment();
    }
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /**
   * Closes the accounting: spans not yet exported count as lost, even if they are exported later.
   */
  public synchronized void close() {
    closed = true;
  }

  /** Returns the number of spans that wait for export, including the current batch. */
  public synchronized long queued() {
    return closed ? 0 : ended.get() - processed.get();
  }

  /** Returns the number of spans that have ended. */
  public long ended() {
    return ended.get();
  }

  /** Returns the number of spans that were sent or lost. */
  public long processed() {
    return processed.get();
  }

  /** Returns the maximum number of waiting spans. */
  public int capacity() {
    return capacity;
  }

  /** Returns the current counts. */
  public synchronized SpanCounts counts() {
    long sent = exported.sum();
    long full = queueFull.sum();
    long failed = exportFailed.sum();
    long done = ended.get();
    long begun = Math.max(started.sum(), done);
    SpanCounts.Dropped dropped =
        closed
            ? new SpanCounts.Dropped(full, failed, done - sent - full - failed, begun - done)
            : new SpanCounts.Dropped(full, failed, 0, 0);
    return new SpanCounts(begun, unsampled.sum(), done, sent, dropped);
  }

  /** Returns the number of completed exports. */
  public long exports() {
    return exports.sum();
  }

  /** Returns the number of failed exports. */
  public long failedExports() {
    return failedExports.sum();
  }

  /** Returns the total duration of exports, in nanoseconds. */
  public long exportNanos() {
    return exportNanos.sum();
  }
}
