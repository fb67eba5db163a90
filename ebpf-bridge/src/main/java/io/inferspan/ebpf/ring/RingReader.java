package io.inferspan.ebpf.ring;

import static io.inferspan.ebpf.linux.Memory.EVERYWHERE;

import io.inferspan.ebpf.wire.EventView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Consumes a mapped BPF ring buffer; one thread only.
 *
 * <p>The kernel writes a record's length with a busy bit, fills it, and takes the bit away; we read
 * in the same order and give room back in pieces of 64 KiB, because each time costs a cache line
 * that the producers want. Whether the ring is still mapped is looked at with each look for new
 * records, and not for each of them.
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

  /** Only this class moves it, so it need not be read back. */
  private long position;

  /** Up to here the kernel has its room back. */
  private long released;

  private final AtomicLong corrupted = new AtomicLong();

  /** A reader that goes on where the last one of this ring has left off. */
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
   * Hands over what is there and ready, up to one ringful, and says how many bytes that took. The
   * room of a record is given back even if the handler throws on it.
   */
  public long drain(EventHandler handler) {
    long start = position;
    try {
      // A producer that is always faster must not keep the caller here for good.
      while (position - start < dataBytes && drainTo(producerPosition(), handler)) {}
    } finally {
      release();
    }
    return position - start;
  }

  /** Drains up to {@code end}; false where there is nothing, or a record is still being written. */
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

  /** A record that is longer than what was written cannot be; what follows it cannot be found. */
  private boolean skipTo(long end) {
    corrupted.incrementAndGet();
    position = end;
    return true;
  }

  private long producerPosition() {
    return (long) POSITION.getAcquire(producer, 0L);
  }

  /** Bytes written and not yet consumed; a value for meters. */
  public long backlogBytes() {
    return Math.max(producerPosition() - (long) POSITION.getAcquire(consumer, 0L), 0);
  }

  /** What may be written and not yet consumed. */
  public long capacityBytes() {
    return dataBytes;
  }

  /** How often the ring made no sense, and an unknown number of records was skipped. */
  public long corruptions() {
    return corrupted.get();
  }
}
