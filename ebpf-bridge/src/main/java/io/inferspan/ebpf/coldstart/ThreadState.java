package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The state of a thread. A thread is in exactly one state at any time. */
enum ThreadState {
  /**
   * It runs outside of the observed system calls, or handles a page fault without a disk access.
   */
  ON_CPU_USER,
  /** It runs inside an observed system call. */
  ON_CPU_KERNEL,
  /** It is runnable and waits for a CPU. */
  RUN_QUEUE,
  /** It waits uninterruptibly: for a disk, a page of a file, or a kernel lock. */
  DISK_OR_FAULT,
  /**
   * It waits in an observed system call, such as {@code futex}, {@code read} or {@code epoll_wait}.
   */
  FUTEX_PIPE_SOCKET,
  /** It waits in a CUDA or NCCL call or in an ioctl, or spins in a call that synchronises. */
  DEVICE,
  /** It waits for something else: a timer, a child process, a signal. */
  SLEEP;

  private static final int UNINTERRUPTIBLE = 2;
  private static final Set<Kind> SYNCHRONISING =
      Set.of(Kind.CUDA_STREAM_SYNC, Kind.CUDA_EVENT_SYNC, Kind.CUDA_DEVICE_SYNC);

  /** Returns its name in span attributes, pages and tables. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns whether the thread runs or is runnable. */
  boolean isOnCpu() {
    return this == ON_CPU_USER || this == ON_CPU_KERNEL || this == RUN_QUEUE;
  }

  /** Returns whether the thread works, or waits for a CPU, a disk or a device. */
  boolean isBusy() {
    return this != FUTEX_PIPE_SOCKET && this != SLEEP;
  }

  /**
   * Returns the state of a thread, given its events in progress.
   *
   * @param wait its time off the CPU; null if it runs
   * @param library its outermost library call; null if there is none
   * @param call its observed system call; null if there is none
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

  /**
   * Returns the state of a waiting thread from the number of its system call plus one; 0 means that
   * it is in no system call.
   */
  static ThreadState inCall(long numberPlusOne) {
    String call = CallNumber.name(numberPlusOne);
    return call == null ? SLEEP : call.equals("ioctl") ? DEVICE : FUTEX_PIPE_SOCKET;
  }
}
