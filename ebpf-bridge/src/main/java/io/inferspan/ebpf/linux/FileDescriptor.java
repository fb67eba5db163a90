package io.inferspan.ebpf.linux;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An open file descriptor that is closed once: a number closed twice may by then be another's file.
 */
public final class FileDescriptor implements AutoCloseable {

  private final int number;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Takes over an open descriptor. */
  public FileDescriptor(int number) {
    this.number = number;
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
