package io.inferspan.ebpf.ring;

import static io.inferspan.ebpf.linux.Memory.EVERYWHERE;

import io.inferspan.ebpf.wire.EventView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads events from a mapped BPF ring buffer. Not thread-safe, except for the methods for meters.
 *
 * <p>The kernel writes a record's length with a busy bit, fills the record, and clears the bit. The
 * reader follows in the same order. It releases space in steps of 64 KiB, or of a quarter of a
 * smaller ring, because each release costs a cache line that the producers need. It checks once per
 * batch, rather than per record, that the ring is still mapped.
 */
public final class RingReader {

  static final int HEADER_BYTES = 8;
  static final int BUSY = 1 << 31;
  static final int DISCARDED = 1 << 30;
  private static final int LENGTH = ~(BUSY | DISCARDED);

  private static final long BATCH_BYTES = 64 << 10;

  private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle HEADER = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment consumer;
  private final MemorySegment producer;
  private final long dataAddress;
  private final long dataBytes;
  private final long mask;
  private final long batchBytes;
  private final EventView view;

  /** The consumer position; only this class moves it, so it need not be read back. */
  private long position;

  /** The position up to which space has been released. */
  private long released;

  private final AtomicLong corrupted = new AtomicLong();

  /** Creates a reader that continues where the previous one of this ring stopped. */
  public RingReader(RingMemory ring) {
    this.consumer = ring.consumer();
    this.producer = ring.producer();
    this.dataAddress = ring.data().address();
    this.view = new EventView().over(ring.data());
    this.dataBytes = ring.dataBytes();
    this.mask = dataBytes - 1;
    this.batchBytes = Math.min(BATCH_BYTES, dataBytes / 4);
    this.position = (long) POSITION.getAcquire(consumer, 0L);
    this.released = position;
  }

  /**
   * Passes all complete records to the handler, up to about the ring's capacity, and returns the
   * bytes consumed. A record's space is released even if the handler throws.
   */
  public long drain(EventHandler handler) {
    long start = position;
    try {
      // The limit keeps fast producers from blocking the caller forever.
      while (position - start < dataBytes && drainTo(producerPosition(), handler)) {}
    } finally {
      release();
    }
    return position - start;
  }

  /** Reads up to {@code end}; returns false if there is no data, or if a record is incomplete. */
  private boolean drainTo(long end, EventHandler handler) {
    if (position >= end) {
      return false;
    }
    while (position < end) {
      long at = position & mask;
      int header = (int) HEADER.getAcquire(EVERYWHERE, dataAddress + at);
      if ((header & BUSY) != 0) {
        return false;
      }
      int length = header & LENGTH;
      long next = position + ((length + HEADER_BYTES + 7L) & ~7L);
      if (next > end) {
        return skipTo(end);
      }
      position = next;
      if ((header & DISCARDED) == 0) {
        handler.event(view.moveTo(at + HEADER_BYTES, length));
      }
      if (next - released >= batchBytes) {
        release();
      }
    }
    return true;
  }

  private void release() {
    POSITION.setRelease(consumer, 0L, position);
    released = position;
  }

  /**
   * Skips to {@code end} after a record that is longer than the written data, because everything
   * after it is invalid, too.
   */
  private boolean skipTo(long end) {
    corrupted.incrementAndGet();
    position = end;
    return true;
  }

  private long producerPosition() {
    return (long) POSITION.getAcquire(producer, 0L);
  }

  /** Returns the bytes written and not yet consumed. Any thread may call this. */
  public long backlogBytes() {
    return Math.max(producerPosition() - (long) POSITION.getAcquire(consumer, 0L), 0);
  }

  /** Returns the bytes consumed so far, in steps of a batch. Any thread may call this. */
  public long consumedBytes() {
    return (long) POSITION.getAcquire(consumer, 0L);
  }

  /** Returns the capacity in bytes. */
  public long capacityBytes() {
    return dataBytes;
  }

  /** Returns how often invalid data was skipped. */
  public long corruptions() {
    return corrupted.get();
  }
}
