package io.inferspan.ebpf.wire;

/**
 * The meaning of {@code detail} and {@code extra} of an event. Only events with the same detail are
 * folded together.
 */
public enum Detail {
  NONE,
  /** {@code detail} is the handle of a CUDA stream. */
  STREAM,
  /**
   * The low half of {@code detail} is a {@link FdKind}; the high half, the descriptor, is not used.
   */
  FD,
  /** {@code detail} is the data type above the reduction, {@code extra} the communicator. */
  COLLECTIVE,
  /** {@code detail} is the data type above the root or peer, {@code extra} the communicator. */
  TRANSFER,
  /**
   * {@code detail} is the thread's state when it left the CPU, {@code extra} the number of its
   * system call plus one, or 0.
   */
  STATE,
  /**
   * {@code detail} is 1 if the thread was preempted, 0 if it was woken; {@code extra} as for {@link
   * #STATE}.
   */
  QUEUED,
  /** The text is a path. */
  PATH,
  /** The text is the operation's name, {@code extra} its number, which occurs once. */
  OPERATION,
  /** {@code extra} is the number of the operation that contains the call. */
  OPERATION_CALL
}
