package io.inferspan.ebpf.linux;

/** A kernel error that the bridge handles; the numbers are the same on x86-64 and AArch64. */
public enum Errno {
  EPERM(1, "operation not permitted"),
  ENOENT(2, "no such file or entry"),
  ESRCH(3, "no such process"),
  EINTR(4, "interrupted"),
  EIO(5, "input/output error"),
  E2BIG(7, "too big"),
  EBADF(9, "bad file descriptor"),
  EAGAIN(11, "try again"),
  ENOMEM(12, "not enough memory"),
  EACCES(13, "permission denied"),
  EFAULT(14, "bad address"),
  EBUSY(16, "busy"),
  EEXIST(17, "already exists"),
  ENODEV(19, "no such device"),
  EINVAL(22, "invalid argument"),
  ENFILE(23, "too many open files in the system"),
  EMFILE(24, "too many open files"),
  ENOSPC(28, "no space left"),
  ERANGE(34, "out of range"),
  ENOSYS(38, "not implemented by this kernel"),
  ELOOP(40, "too many levels"),
  EOPNOTSUPP(95, "not supported"),
  ETIMEDOUT(110, "timed out"),
  ESTALE(116, "stale"),
  ECANCELED(125, "cancelled"),
  /**
   * An internal error number that the kernel should not return but does, and that libbpf passes on.
   */
  ENOTSUPP(524, "not supported");

  /** Results from this value to -1 are errors. */
  private static final int LOWEST = -4095;

  private final int number;
  private final String meaning;

  Errno(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  /** Returns whether a result of the kernel is an error. */
  public static boolean isError(long result) {
    return result < 0 && result >= LOWEST;
  }

  /** Returns whether this error has that number, with either sign. */
  public boolean is(long result) {
    return Math.abs(result) == number;
  }

  /** Returns its number. */
  public int number() {
    return number;
  }

  /** Returns the name and meaning of an error number. */
  public static String describe(int number) {
    for (Errno errno : values()) {
      if (errno.number == number) {
        return errno.name() + " (" + errno.meaning + ")";
      }
    }
    return "error " + number;
  }
}
