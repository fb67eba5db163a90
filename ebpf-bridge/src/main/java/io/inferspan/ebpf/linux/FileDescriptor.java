package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An open file descriptor. It is closed only once, because a second close could close another file
 * with the same number.
 */
public final class FileDescriptor implements AutoCloseable {

  private static final long HERE = -100;
  private static final long PATH_ONLY = 0x200000;
  private static final long CLOSE_ON_EXEC = 0x80000;

  private final int number;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Takes ownership of an open descriptor. */
  public FileDescriptor(int number) {
    this.number = number;
  }

  /**
   * Opens a file with {@code O_PATH}, which needs no permission to read it. {@link #path} leads to
   * the file even after it has been renamed.
   */
  public static FileDescriptor ofFile(Path file) {
    return open(file, PATH_ONLY);
  }

  /** Opens a file for reading. */
  public static FileDescriptor forReading(Path file) {
    return open(file, 0);
  }

  private static FileDescriptor open(Path file, long flags) {
    try (Arena arena = Arena.ofConfined()) {
      long path = arena.allocateFrom(file.toString()).address();
      long number =
          SystemCall.OPENAT.callOrThrow("opening " + file, HERE, path, flags | CLOSE_ON_EXEC);
      return new FileDescriptor((int) number);
    }
  }

  /**
   * Returns a path to the open file, which is valid in this process until the descriptor is closed.
   */
  public Path path() {
    return Path.of("/proc/self/fd", Integer.toString(number));
  }

  /** Returns its number, which is invalid once it is closed. */
  public int number() {
    return number;
  }

  @Override
  public void close() {
    closeOnce();
  }

  /** Closes it; returns whether this was the first call. */
  public boolean closeOnce() {
    boolean first = closed.compareAndSet(false, true);
    if (first) {
      SystemCall.CLOSE.call(number);
    }
    return first;
  }
}
