package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a thread does at a moment: exactly one of these. */
enum ThreadState {
  /** It runs outside of the system calls that are seen; page faults that wait for no disk, too. */
  ON_CPU_USER,
  /** It runs within a system call that is seen. */
  ON_CPU_KERNEL,
  /** It could run and has no CPU. */
  RUN_QUEUE,
  /** It waits uninterruptibly, for a disk, for a page of a file, or for a lock of the kernel. */
  DISK_OR_FAULT,
  /** It waits in a call for others: a futex, a pipe, a socket, or any of several. */
  FUTEX_PIPE_SOCKET,
  /** It waits in a call of CUDA or NCCL, or on a CPU in one that synchronises. */
  DEVICE,
  /** It waits otherwise: for a time, for a child, for a signal. */
  SLEEP;

  private static final int UNINTERRUPTIBLE = 2;
  private static final Set<Kind> SYNCHRONISING =
      Set.of(Kind.CUDA_STREAM_SYNC, Kind.CUDA_EVENT_SYNC, Kind.CUDA_DEVICE_SYNC);

  /** The last part of attributes and the column of tables. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether it runs, or is only kept from that by others that do. */
  boolean isOnCpu() {
    return this == ON_CPU_USER || this == ON_CPU_KERNEL || this == RUN_QUEUE;
  }

  /** Whether it does not only wait for others or sleep. */
  boolean isBusy() {
    return this != FUTEX_PIPE_SOCKET && this != SLEEP;
  }

  /**
   * The state of a moment.
   *
   * @param wait the time off the CPU that it is in, if it is
   * @param library the call of a library, outermost
   * @param call the system call
   */
  static ThreadState of(@Nullable Event wait, @Nullable Event library, @Nullable Event call) {
    if (wait != null) {
      return wait.kind() == Kind.SCHED_RUNQUEUE ? RUN_QUEUE : waiting(wait, library);
    }
    if (library != null && SYNCHRONISING.contains(library.kind())) {
      return DEVICE;
    }
    return call == null ? ON_CPU_USER : ON_CPU_KERNEL;
  }

  private static ThreadState waiting(Event wait, @Nullable Event library) {
    if (library != null && library.kind().family() != Family.SYSCALL) {
      return DEVICE;
    }
    if ((wait.detail() & UNINTERRUPTIBLE) != 0) {
      return DISK_OR_FAULT;
    }
    return inCall(wait.extra());
  }

  /** Of a thread that waits in the call with the number before this one; 0 is none that is seen. */
  static ThreadState inCall(long numberPlusOne) {
    String call = CallNumber.name(numberPlusOne);
    return call == null ? SLEEP : call.equals("ioctl") ? DEVICE : FUTEX_PIPE_SOCKET;
  }
}
