package io.inferspan.ebpf.wire;

/** What tells events of one kind apart, and so is part of what is folded together. */
public enum Detail {
  NONE,
  /** {@code detail} is the handle of a CUDA stream. */
  STREAM,
  /**
   * The low half of {@code detail} is a {@link FdKind}; its high half, the number, tells nobody.
   */
  FD,
  /** {@code detail} is the data type above the reduction, {@code extra} the communicator. */
  COLLECTIVE,
  /** {@code detail} is the data type above the root or peer, {@code extra} the communicator. */
  TRANSFER,
  /**
   * {@code detail} is the state in which the thread left the CPU, {@code extra} one more than the
   * number of the system call it was in, or 0.
   */
  STATE,
  /** {@code detail} is 1 where the thread was preempted, 0 where it was woken; and the call too. */
  QUEUED,
  /** The text is a path. */
  PATH,
  /** The text is a name that the engine chose, {@code extra} its number for this one time. */
  OPERATION,
  /** {@code extra} is the number of the operation that the call is part of. */
  OPERATION_CALL
}
