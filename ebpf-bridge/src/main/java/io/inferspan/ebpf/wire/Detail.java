package io.inferspan.ebpf.wire;

/**
 * The meaning of the fields {@code detail} and {@code extra} of an event, which depends on its
 * kind.
 */
public enum Detail {
  /** Spans contain neither field. */
  NONE,
  /** {@code detail} is the handle of a CUDA stream. */
  STREAM,
  /**
   * The lower half of {@code detail} is a {@link FdKind}, the upper half the descriptor. Events of
   * different descriptors are folded together.
   */
  FD,
  /**
   * The upper half of {@code detail} is the data type, the lower half the reduction; {@code extra}
   * is the communicator and the sequence number.
   */
  COLLECTIVE,
  /**
   * The upper half of {@code detail} is the data type, the lower half the root or the peer; {@code
   * extra} is the communicator and the sequence number.
   */
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
  /**
   * The text is the operation's name; {@code extra} is a number that is unique to the operation.
   */
  OPERATION,
  /** {@code extra} is the number of the operation that contains the call. */
  OPERATION_CALL
}
