package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An open file descriptor that is closed once: a number closed twice may by then be another's file.
 */
public final class FileDescriptor implements AutoCloseable {

  private static final long HERE = -100;
  private static final long PATH_ONLY = 0x200000;
  private static final long CLOSE_ON_EXEC = 0x80000;

  private final int number;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Takes over an open descriptor. */
  public FileDescriptor(int number) {
    this.number = number;
  }

  /**
   * Opens a file not to be read but to be found again, whatever becomes of the path: see {@link
   * #path}.
   */
  public static FileDescriptor ofFile(Path file) {
    try (Arena arena = Arena.ofConfined()) {
      long path = arena.allocateFrom(file.toString()).address();
      long number =
          SystemCall.OPENAT.callOrThrow("opening " + file, HERE, path, PATH_ONLY | CLOSE_ON_EXEC);
      return new FileDescriptor((int) number);
    }
  }

  /** Leads this process to the very file for as long as it is open. */
  public Path path() {
    return Path.of("/proc/self/fd", Integer.toString(number));
  }

  /** Its number, which means nothing once it is closed. */
  public int number() {
    return number;
  }

  @Override
  public void close() {
    closeOnce();
  }

  /** Closes it; true the first time. */
  public boolean closeOnce() {
    boolean first = closed.compareAndSet(false, true);
    if (first) {
      SystemCall.CLOSE.call(number);
    }
    return first;
  }
}
