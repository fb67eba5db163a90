package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Waits until a file descriptor is readable. Not thread-safe. */
public final class Epoll implements AutoCloseable {

  private static final int CLOEXEC = 0x80000;
  private static final int ADD = 1;
  private static final int READABLE = 1;

  /** The size of {@code struct epoll_event}, packed on x86-64 and padded on AArch64. */
  private static final int EVENT_BYTES = 16;

  private final FileDescriptor epoll;
  private final Arena arena;
  private final MemorySegment event;

  private Epoll() {
    this.epoll =
        new FileDescriptor((int) SystemCall.EPOLL_CREATE.callOrThrow("creating an epoll", CLOEXEC));
    this.arena = Arena.ofShared();
    this.event = arena.allocate(EVENT_BYTES, Long.BYTES);
  }

  /** Returns an instance for a descriptor, which must stay open. */
  public static Epoll watching(int fd) {
    Epoll epoll = new Epoll();
    try {
      epoll.watch(fd);
    } catch (RuntimeException refused) {
      epoll.close();
      throw refused;
    }
    return epoll;
  }

  private void watch(int fd) {
    event.set(JAVA_INT, 0, READABLE);
    SystemCall.EPOLL_CTL.callOrThrow(
        "watching a descriptor", epoll.number(), ADD, fd, event.address());
  }

  /**
   * Waits for at most this time; returns true if the descriptor is readable. An interrupt ends the
   * wait.
   */
  public boolean await(int timeoutMillis) {
    return SystemCall.EPOLL_PWAIT.call(epoll.number(), event.address(), 1, timeoutMillis, 0, 8) > 0;
  }

  /** Must not be called while a thread waits. */
  @Override
  public void close() {
    if (epoll.closeOnce()) {
      arena.close();
    }
  }
}
