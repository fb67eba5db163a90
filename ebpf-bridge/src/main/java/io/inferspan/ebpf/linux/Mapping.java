package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory mapped with {@code mmap(2)}.
 *
 * <p>Access after closing throws {@link IllegalStateException} instead of crashing.
 */
public final class Mapping implements AutoCloseable {

  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int PROT_EXEC = 4;
  private static final int MAP_SHARED = 1;
  private static final int MAP_PRIVATE = 2;
  private static final int MAP_ANONYMOUS = 0x20;
  private static final int MAP_NORESERVE = 0x4000;

  private final Arena arena = Arena.ofShared();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final MemorySegment memory;

  @SuppressWarnings("restricted")
  private Mapping(long address, long length) {
    this.memory =
        MemorySegment.ofAddress(address)
            .reinterpret(length, arena, mapped -> SystemCall.MUNMAP.call(address, length));
  }

  /** Maps a file descriptor as shared memory; the descriptor may then be closed. */
  public static Mapping shared(int fd, long offset, long length, boolean writable) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    return map("mapping " + length + " bytes", length, protection, MAP_SHARED, fd, offset);
  }

  /** Maps a file with execute permission. */
  public static Mapping executable(int fd, long length) {
    return map("mapping code", length, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  }

  /** Maps anonymous memory, which costs nothing until it is touched. */
  public static Mapping anonymous(long length) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return map("reserving " + length + " bytes", length, PROT_READ | PROT_WRITE, flags, -1, 0);
  }

  private static Mapping map(String attempt, long length, long... protectionFlagsFdOffset) {
    long[] rest = protectionFlagsFdOffset;
    long address =
        SystemCall.MMAP.callOrThrow(attempt, 0, length, rest[0], rest[1], rest[2], rest[3]);
    return new Mapping(address, length);
  }

  /** Returns the memory, which any thread may access. */
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      arena.close();
    }
  }
}
