package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.Arrays;

/** The counters of the bridge's BPF programs, numbered as in {@code wire.h}. */
@FunctionalInterface
public interface Counters {

  /**
   * The index of the first counter of calls made while a policy was loaded; there is one per kind.
   */
  int JUDGED = 640;

  /** The number of counters from {@link #JUDGED} on. */
  int JUDGED_ROWS = 128;

  /** The index of the first counter of events that a lower detail level folded or counted. */
  int SHED = 780;

  /** The index of the first counter of runs of {@link Programs}. */
  int RUNS = 800;

  /** The index of the first counter of the run time of {@link Programs}, in nanoseconds. */
  int RUN_NANOS = 810;

  /** Programs whose runs are measured together, numbered as in {@code settings.h}. */
  enum Programs {
    /** Programs at both ends of system calls. */
    CONTEXT(0),
    /** Programs at the entry of calls of CUDA and NCCL. */
    CALLS(1),
    /** Programs at the functions of {@code inferspan_ckp.h}. */
    CKP(2),
    /** Programs at context switches, at wake-ups of threads, and at sends on TCP connections. */
    SCHED(3),
    /** Programs at the return of calls of CUDA and NCCL. */
    RETURNS(4);

    private final int number;

    Programs(int number) {
      this.number = number;
    }
  }

  /** Returns the counter at this index. */
  long at(int index);

  /**
   * Returns the number of events of this kind that were written to the ring, or lost because it was
   * full.
   */
  default long produced(Kind kind) {
    return at(kind.number());
  }

  /** Returns the number of events of all kinds. */
  default long produced() {
    return Arrays.stream(Kind.values()).mapToLong(this::produced).sum();
  }

  /** Returns the number of events lost for this reason. */
  default long lost(KernelLoss reason) {
    return at(reason.index());
  }

  /** Returns the number of events lost for any reason of the kernel side. */
  default long lost() {
    return Arrays.stream(KernelLoss.values()).mapToLong(this::lost).sum();
  }

  /** Returns the value of a counter of requests. */
  default long count(ContextCount what) {
    return at(what.index());
  }

  /** Returns the number of calls with this outcome of a policy. */
  default long count(PolicyCount what) {
    if (what != PolicyCount.FLOOR) {
      return at(what.index());
    }
    long others = count(PolicyCount.KEPT) + count(PolicyCount.FOLDED) + count(PolicyCount.DROPPED);
    return Math.max(0, judged() - others);
  }

  /** Returns how many events of a class were folded or counted because its level was lowered. */
  default long shed(EventClass events) {
    return at(SHED + events.number());
  }

  /** Returns the measured runs of these programs. */
  default RunStats runs(Programs programs) {
    return new RunStats(at(RUNS + programs.number), at(RUN_NANOS + programs.number));
  }

  /** Returns the number of calls, of every outcome, that were made while a policy was loaded. */
  default long judged() {
    long sum = 0;
    for (int index = JUDGED; index < JUDGED + JUDGED_ROWS; index++) {
      sum += at(index);
    }
    return sum;
  }
}
