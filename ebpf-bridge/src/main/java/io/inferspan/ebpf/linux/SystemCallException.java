package io.inferspan.ebpf.linux;

/** A system call that the kernel refused where the bridge cannot go on without it. */
public final class SystemCallException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int errno;

  SystemCallException(String attempt, int errno) {
    super(attempt + ": " + Errno.describe(errno));
    this.errno = errno;
  }

  /** The error's number. */
  public int errno() {
    return errno;
  }
}
