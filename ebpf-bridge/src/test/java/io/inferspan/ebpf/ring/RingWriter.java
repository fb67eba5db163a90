package io.inferspan.ebpf.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Writes records to a simulated ring buffer, as the kernel does. */
public final class RingWriter {

  private static final int PAGE = 4096;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment consumer;
  private final MemorySegment rest;
  private final long dataBytes;
  private long position;

  /** Creates an empty ring. */
  public RingWriter(Arena arena, long dataBytes) {
    this.consumer = arena.allocate(PAGE, PAGE);
    this.rest = arena.allocate(PAGE + 2 * dataBytes, PAGE);
    this.dataBytes = dataBytes;
  }

  /** Returns the memory that a reader maps. */
  public RingMemory memory() {
    return RingMemory.over(consumer, rest, PAGE, dataBytes);
  }

  /** Writes a record; returns false if there is no space. */
  public boolean write(byte[] record) {
    long at = reserve(record.length);
    if (at < 0) {
      return false;
    }
    fill(at, record);
    commit(at, record.length, 0);
    return true;
  }

  /** Reserves space for a record, which is busy until committed; returns -1 if there is none. */
  long reserve(int length) {
    long taken = (length + 8 + 7) & ~7L;
    if (position + taken - consumed() > dataBytes) {
      return -1;
    }
    long at = position;
    header(at, length | RingReader.BUSY);
    position += taken;
    LONG.setRelease(rest, 0L, position);
    return at;
  }

  void fill(long at, byte[] record) {
    for (int i = 0; i < record.length; i++) {
      long offset = (at + 8 + i) & (dataBytes - 1);
      rest.set(ValueLayout.JAVA_BYTE, PAGE + offset, record[i]);
      rest.set(ValueLayout.JAVA_BYTE, PAGE + dataBytes + offset, record[i]);
    }
  }

  void commit(long at, int length, int flags) {
    header(at, length | flags);
  }

  /** Writes a header to both copies of the data; the kernel maps the same memory twice instead. */
  private void header(long at, int header) {
    long offset = at & (dataBytes - 1);
    INT.setRelease(rest, PAGE + dataBytes + offset, header);
    INT.setRelease(rest, PAGE + offset, header);
  }

  long consumed() {
    return (long) LONG.getAcquire(consumer, 0L);
  }

  long produced() {
    return position;
  }
}
