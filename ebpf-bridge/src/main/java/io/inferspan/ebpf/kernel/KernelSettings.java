package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.linux.Mapping;
import io.inferspan.ebpf.ring.ReaderState;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** The memory from which the programs read their settings: {@code struct ispan_settings}. */
public final class KernelSettings implements AutoCloseable {

  /** Calls of the CUDA driver and runtime. */
  public static final int CUDA = 0x01;

  /** Calls of NCCL. */
  public static final int NCCL = 0x02;

  /** System calls. */
  public static final int SYSCALLS = 0x04;

  /** Off-CPU time and run-queue time. */
  public static final int SCHED = 0x08;

  /** Connections and retransmissions. */
  public static final int TCP = 0x10;

  /** Operations that applications mark. */
  public static final int CKP = 0x20;

  static final int READ_SHARED = 0x100;
  static final int PUBLISH_SHARED = 0x200;

  private static final int PROCESSES = 0x40;

  private static final int BYTES = 88;
  private static final int VERSION = 2;
  private static final int WAKEUP_BYTES = 64 << 10;

  private static final int VERSION_AT = 0;
  private static final int SCOPE_AT = 4;
  private static final int SELF_AT = 8;
  private static final int FLAGS_AT = 12;
  private static final int LEAST_NANOS_AT = 16;
  private static final int CGROUP_AT = 24;
  private static final int WAKEUP_AT = 32;
  private static final int LEVEL_AT = 36;
  private static final int READER_AT = 40;
  private static final int ASLEEP_AT = 44;
  private static final int ATTACHED_AT = 48;
  private static final int MOST_REQUESTS_AT = 56;
  private static final int POLICY_AT = 60;
  private static final int LEVELS_AT = 64;
  private static final int SCHED_AT = 72;
  private static final int MEASURED_AT = 84;

  /**
   * The limit of traced requests per second and process: far more than an engine serves. It keeps a
   * local program from flooding traces.
   */
  private static final int MOST_REQUESTS_PER_SECOND = 10_000;

  private static final VarHandle INT = JAVA_INT.varHandle();
  private static final VarHandle LONG = JAVA_LONG.varHandle();

  private final Mapping mapping;
  private final MemorySegment memory;
  private final int sharing;
  private int flags;

  /**
   * The lowest level that each class ever had. The kernel may still have unread sums of events from
   * a time of lowered levels.
   */
  private volatile DetailLevels lowered = DetailLevels.FULL;

  /**
   * The settings that do not change while the bridge runs.
   *
   * @param families the flags of the enabled families
   * @param everything whether requests of every process are observed
   * @param selfTgid the pid of this process in the kernel's initial PID namespace
   * @param leastNanos the duration below which system calls and scheduling delays are ignored
   * @param cgroup the cgroup whose processes are observed
   */
  public record Options(
      int families, boolean everything, int selfTgid, long leastNanos, Cgroup cgroup) {}

  /**
   * A cgroup.
   *
   * @param id the inode number of its directory; zero for any cgroup
   * @param level its depth below the hierarchy's root
   */
  public record Cgroup(long id, int level) {

    /** Returns the value for any cgroup. */
    public static Cgroup any() {
      return new Cgroup(0, 0);
    }
  }

  /** Creates settings; {@code sharing} is a set of the flags for shared contexts. */
  KernelSettings(BpfMap settings, int sharing) {
    this.sharing = sharing;
    this.mapping = Mapping.shared(settings.fd(), 0, BYTES, true);
    this.memory = mapping.memory();
  }

  /**
   * Writes the settings, which enables the programs. The version is written last, because the
   * programs check it first.
   */
  public void begin(Options options) {
    memory.set(JAVA_INT, SCOPE_AT, options.everything() ? 1 : 0);
    memory.set(JAVA_INT, SELF_AT, options.selfTgid());
    flags = options.families() | PROCESSES | sharing;
    memory.set(JAVA_INT, FLAGS_AT, flags);
    memory.set(JAVA_LONG, LEAST_NANOS_AT, options.leastNanos());
    memory.set(JAVA_LONG, CGROUP_AT, options.cgroup().id());
    memory.set(JAVA_INT, WAKEUP_AT, WAKEUP_BYTES);
    memory.set(JAVA_INT, LEVEL_AT, options.cgroup().level());
    memory.set(JAVA_INT, MOST_REQUESTS_AT, MOST_REQUESTS_PER_SECOND);
    INT.setRelease(memory, (long) VERSION_AT, VERSION);
  }

  /** Publishes the state of the ring's reader, which determines when programs wake it. */
  public void setReaderState(ReaderState state) {
    INT.setVolatile(memory, (long) READER_AT, state.number());
  }

  /**
   * Sets the detail levels of all classes, which are one word of the settings. Then sets the flags
   * that make programs ignore the events of detached classes.
   */
  public void setLevels(DetailLevels levels) {
    lowered = lowered.lowest(levels);
    LONG.setVolatile(memory, (long) LEVELS_AT, levels.word());
    INT.setVolatile(memory, (long) FLAGS_AT, flags & ~off(levels));
  }

  private static int off(DetailLevels levels) {
    int off = 0;
    for (EventClass events : EventClass.values()) {
      if (levels.of(events) == DetailLevel.DETACHED) {
        off |=
            switch (events) {
              case SCHED -> SCHED | TCP;
              case SYSCALLS -> SYSCALLS;
              case LAUNCHES, REQUESTS -> 0;
              case CALLS -> CUDA | NCCL;
            };
      }
    }
    return off;
  }

  /**
   * Sets the time at which the probes of a class were attached, so that programs ignore events that
   * began earlier. Has no effect for classes other than {@link EventClass#SCHED} and {@link
   * EventClass#CALLS}.
   */
  public void attached(EventClass events, long nowNanos) {
    switch (events) {
      case SCHED -> LONG.setVolatile(memory, (long) SCHED_AT, nowNanos);
      case CALLS -> LONG.setVolatile(memory, (long) ATTACHED_AT, nowNanos);
      case SYSCALLS, LAUNCHES, REQUESTS -> {}
    }
  }

  /**
   * Starts or stops the programs' measurement of their runs, which costs two clock readings per
   * run.
   */
  public void measure(boolean measured) {
    INT.setVolatile(memory, (long) MEASURED_AT, measured ? 1 : 0);
  }

  /**
   * Publishes to other processes, such as {@code top}, whether the bridge sleeps: whether the
   * probes for sampled requests are detached.
   */
  public void setAsleep(boolean asleep) {
    INT.setVolatile(memory, (long) ASLEEP_AT, asleep ? 1 : 0);
  }

  /** Returns the lowest level that each class ever had. */
  DetailLevels lowered() {
    return lowered;
  }

  /** Returns the levels of a bridge, given its map of settings. */
  public static DetailLevels levels(BpfMap settings) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(BYTES, Long.BYTES);
      return settings.get(arena.allocateFrom(JAVA_INT, 0), value)
          ? new DetailLevels(value.get(JAVA_LONG, LEVELS_AT))
          : DetailLevels.FULL;
    }
  }

  /** Returns whether a bridge sleeps, given its map of settings. */
  public static boolean isAsleep(BpfMap settings) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(BYTES, Long.BYTES);
      return settings.get(arena.allocateFrom(JAVA_INT, 0), value)
          && value.get(JAVA_INT, ASLEEP_AT) != 0;
    }
  }

  /** Returns whether a policy decides about calls. */
  boolean hasPolicy() {
    return PolicySwitch.floor((int) INT.getVolatile(memory, (long) POLICY_AT)) != 0;
  }

  /**
   * Returns the policy switch of a bridge, given its map of settings. The map's memory stays mapped
   * until the switch is closed.
   */
  public static PolicySwitch policySwitch(BpfMap settings) {
    return new PolicySwitch(Mapping.shared(settings.fd(), 0, BYTES, true), POLICY_AT);
  }

  /** Disables every program from its next run on. */
  public void stop() {
    INT.setRelease(memory, (long) VERSION_AT, 0);
  }

  @Override
  public void close() {
    mapping.close();
  }
}
