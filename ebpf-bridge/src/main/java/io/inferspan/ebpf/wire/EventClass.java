package io.inferspan.ebpf.wire;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A class of events whose detail can be lowered, numbered as {@code ispan_class} in {@code
 * settings.h}. A budget lowers detail in this order, except of classes that cost little.
 */
public enum EventClass {
  /**
   * Events of the scheduler. While they are detached, TCP events, which have no level of their own,
   * are not reported either.
   */
  SCHED(0),
  SYSCALLS(1),
  /** Calls of CUDA and NCCL other than launches. */
  CALLS(2),
  /** Launches of CUDA kernels and graphs. */
  LAUNCHES(3),
  /** The recognition of requests and steps, which is either full or detached. */
  REQUESTS(4);

  private final int number;

  EventClass(int number) {
    this.number = number;
  }

  /** Returns its number in the BPF programs. */
  public int number() {
    return number;
  }

  /** Returns the class of a kind; null if its detail is never lowered. */
  public static @Nullable EventClass of(Kind kind) {
    return switch (kind.family()) {
      case SCHED -> SCHED;
      case SYSCALL -> SYSCALLS;
      case CUDA -> kind == Kind.CUDA_LAUNCH || kind == Kind.CUDA_GRAPH_LAUNCH ? LAUNCHES : CALLS;
      case NCCL -> CALLS;
      case TCP, CKP, CONTROL -> null;
    };
  }

  /** Returns its name on spans and in meters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
