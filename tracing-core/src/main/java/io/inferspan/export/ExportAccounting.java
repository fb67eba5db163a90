package io.inferspan.export;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The books of a telemetry: what was started, what left, what was lost and why.
 *
 * <p>Once {@link #close()} was called they balance: {@code started = exported + dropped}.
 */
public final class ExportAccounting {

  private final LongAdder started = new LongAdder();
  private final LongAdder unsampled = new LongAdder();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong gone = new AtomicLong();
  private final LongAdder exported = new LongAdder();
  private final LongAdder queueFull = new LongAdder();
  private final LongAdder exportFailed = new LongAdder();
  private final LongAdder exports = new LongAdder();
  private final LongAdder failedExports = new LongAdder();
  private final LongAdder exportNanos = new LongAdder();
  private final int capacity;
  private boolean closed;

  /** Books for a queue of {@code capacity} spans. */
  public ExportAccounting(int capacity) {
    this.capacity = capacity;
  }

  /** Counts a span that is recorded. */
  void started() {
    started.increment();
  }

  /** Counts a span that nobody will see. */
  public void unsampled() {
    unsampled.increment();
  }

  /** Counts a span that has ended; false where the queue has no room for it. */
  boolean admit() {
    if (ended.incrementAndGet() - gone.get() <= capacity) {
      return true;
    }
    queueFull.increment();
    gone.incrementAndGet();
    return false;
  }

  /**
   * Whether so little room is left, an eighth, that the spans of a request which begins now would
   * in part be refused.
   */
  public boolean isCrowded() {
    return ended.get() - gone.get() >= capacity - capacity / 8;
  }

  /** Counts a span of a request that was not begun because there is no room for it. */
  public void refused() {
    started.increment();
    ended.incrementAndGet();
    queueFull.increment();
    gone.incrementAndGet();
  }

  /** Counts a batch that has left the queue. */
  synchronized void settled(int spans, boolean success, long nanos) {
    if (closed) {
      return;
    }
    gone.addAndGet(spans);
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

  /** Closes the books: what has not gone out by now counts as lost, even if it still goes out. */
  public synchronized void close() {
    closed = true;
  }

  /** Spans that wait for export, those in the batch under way included. */
  public synchronized long queued() {
    return closed ? 0 : ended.get() - gone.get();
  }

  /** Spans that have ended, waiting or gone. */
  public long ended() {
    return ended.get();
  }

  /** Spans that wait no longer: sent or lost. */
  public long gone() {
    return gone.get();
  }

  /** Spans that may wait for export. */
  public int capacity() {
    return capacity;
  }

  /** How things stand now. */
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

  /** Calls of the exporter that have ended. */
  public long exports() {
    return exports.sum();
  }

  /** Those of them that failed. */
  public long failedExports() {
    return failedExports.sum();
  }

  /** What they took, in all. */
  public long exportNanos() {
    return exportNanos.sum();
  }
}
