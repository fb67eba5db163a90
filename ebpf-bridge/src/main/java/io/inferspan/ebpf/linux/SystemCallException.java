package io.inferspan.ebpf.linux;

/** Thrown if a system call that the bridge needs has failed. */
public final class SystemCallException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int errno;

  SystemCallException(String attempt, int errno) {
    super(attempt + " failed: " + Errno.describe(errno));
    this.errno = errno;
  }

  /** Returns the error number. */
  public int errno() {
    return errno;
  }
}
