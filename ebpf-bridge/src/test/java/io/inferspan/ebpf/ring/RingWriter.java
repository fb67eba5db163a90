package io.inferspan.ebpf.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Writes a ring in ordinary memory as the kernel writes its own. */
public final class RingWriter {

  private static final int PAGE = 4096;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment consumer;
  private final MemorySegment rest;
  private final long dataBytes;
  private long position;

  /** A ring of this size. */
  public RingWriter(Arena arena, long dataBytes) {
    this.consumer = arena.allocate(PAGE, PAGE);
    this.rest = arena.allocate(PAGE + 2 * dataBytes, PAGE);
    this.dataBytes = dataBytes;
  }

  /** Returns the memory that a reader maps. */
  public RingMemory memory() {
    return RingMemory.over(consumer, rest, PAGE, dataBytes);
  }

  /** Writes a record; false where there is no room. */
  public boolean write(byte[] record) {
    long at = reserve(record.length);
    if (at < 0) {
      return false;
    }
    fill(at, record);
    commit(at, record.length, 0);
    return true;
  }

  /** Takes room for a record, which is busy until it is committed; negative where there is none. */
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
      long place = (at + 8 + i) & (dataBytes - 1);
      rest.set(ValueLayout.JAVA_BYTE, PAGE + place, record[i]);
      rest.set(ValueLayout.JAVA_BYTE, PAGE + dataBytes + place, record[i]);
    }
  }

  void commit(long at, int length, int flags) {
    header(at, length | flags);
  }

  /** In both copies of the data; a real ring has but one. */
  private void header(long at, int header) {
    long place = at & (dataBytes - 1);
    INT.setRelease(rest, PAGE + dataBytes + place, header);
    INT.setRelease(rest, PAGE + place, header);
  }

  long consumed() {
    return (long) LONG.getAcquire(consumer, 0L);
  }

  long produced() {
    return position;
  }
}
