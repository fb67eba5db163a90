package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The number of a program's runs, and their total time. */
public record RunStats(long count, long totalNanos) {

  private static final int RUN_TIME = 0;
  private static final int INFO_BYTES = 208;
  private static final int NANOS_AT = 192;
  private static final int COUNT_AT = 200;

  /**
   * Enables the kernel's run statistics until the descriptor is closed. They cost two clock
   * readings for every run of every BPF program on the machine.
   */
  public static FileDescriptor enable() {
    try (Arena arena = Arena.ofConfined()) {
      long result = BpfCommand.ENABLE_STATS.call(Arguments.in(arena).word(0, RUN_TIME));
      if (Errno.isError(result)) {
        throw new BpfException(
            "the kernel's run statistics cannot be enabled, " + Errno.describe((int) -result),
            "run with CAP_SYS_ADMIN, or set sysctl kernel.bpf_stats_enabled=1",
            "");
      }
      return new FileDescriptor((int) result);
    }
  }

  /** Returns the sum. */
  public RunStats plus(RunStats other) {
    return new RunStats(count + other.count, totalNanos + other.totalNanos);
  }

  /** Returns the difference. */
  public RunStats minus(RunStats other) {
    return new RunStats(count - other.count, totalNanos - other.totalNanos);
  }

  static RunStats of(int program, String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
      BpfObject.describe(program, info, "program " + name);
      return in(info);
    }
  }

  /** Reads the statistics from the kernel's info structure of a program. */
  public static RunStats in(MemorySegment info) {
    return new RunStats(info.get(JAVA_LONG, COUNT_AT), info.get(JAVA_LONG, NANOS_AT));
  }
}
