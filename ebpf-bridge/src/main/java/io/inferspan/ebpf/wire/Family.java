package io.inferspan.ebpf.wire;

/**
 * A family of event kinds. It determines the type of their spans, and which results are failures.
 */
public enum Family {
  CUDA,
  NCCL,
  SYSCALL,
  SCHED,
  TCP,

  /** Operations that applications report with {@code inferspan_ckp.h}. */
  CKP,

  /** Events about requests, processes and libraries, which have no spans. */
  CONTROL;

  private static final int CUDA_NOT_READY = 600;
  private static final int NCCL_IN_PROGRESS = 7;

  /**
   * Error numbers of calls that were interrupted, timed out or must be repeated, which are not
   * failures.
   */
  private static final int INTERRUPTED = 4;

  private static final int AGAIN = 11;
  private static final int TIMED_OUT = 110;
  private static final int IN_PROGRESS = 115;
  private static final int FIRST_RESTART = 512;
  private static final int LAST_RESTART = 516;

  /** Returns whether a call with this {@code result} failed. */
  public boolean failed(int result) {
    return switch (this) {
      case CUDA -> result != 0 && result != CUDA_NOT_READY;
      case NCCL -> result != 0 && result != NCCL_IN_PROGRESS;
      case SYSCALL, TCP -> result < 0 && !isRetry(-result);
      case CKP -> result < 0;
      case SCHED, CONTROL -> false;
    };
  }

  private static boolean isRetry(int errno) {
    return errno == INTERRUPTED
        || errno == AGAIN
        || errno == TIMED_OUT
        || errno == IN_PROGRESS
        || (errno >= FIRST_RESTART && errno <= LAST_RESTART);
  }
}
