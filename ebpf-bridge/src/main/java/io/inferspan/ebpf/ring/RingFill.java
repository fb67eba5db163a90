package io.inferspan.ebpf.ring;

import io.inferspan.ebpf.linux.Mapping;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The fill level of a ring buffer, also of one that another process consumes.
 *
 * @param waitingBytes bytes written and not yet consumed
 * @param capacityBytes the capacity
 */
public record RingFill(long waitingBytes, long capacityBytes) {

  private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();

  /** Reads the level once, without side effects. */
  public static RingFill of(int fd, long capacityBytes) {
    long pageBytes = PageSize.bytes();
    try (Mapping positions = Mapping.shared(fd, 0, 2 * pageBytes, false)) {
      MemorySegment memory = positions.memory();
      // The consumer's position is read first; in the other order it could be ahead.
      long consumed = (long) POSITION.getAcquire(memory, 0L);
      long produced = (long) POSITION.getAcquire(memory, pageBytes);
      return new RingFill(Math.max(produced - consumed, 0), capacityBytes);
    }
  }
}
