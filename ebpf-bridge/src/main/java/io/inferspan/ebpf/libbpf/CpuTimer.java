package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.SystemCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Runs a BPF program periodically on each CPU. The timers are software events of perf, so no
 * hardware counter is needed.
 */
final class CpuTimer {

  private static final int ATTRIBUTES_BYTES = 128;
  private static final int SOFTWARE = 1;
  private static final int CPU_CLOCK = 0;

  /** The frequency flag: the rate is in hertz, not in nanoseconds. */
  private static final long BY_FREQUENCY = 1 << 10;

  private static final int EVERY_PROCESS = -1;
  private static final int NO_GROUP = -1;
  private static final int CLOSE_ON_EXEC = 8;
  private static final int OFFLINE = -19;
  private static final int PERF_EVENT = 41;

  private CpuTimer() {}

  /**
   * Attaches a program to a timer on each CPU that is online, or to none if one fails.
   *
   * @param frequency the runs per second on each CPU
   * @param refusal makes the exception for an error number
   */
  static BpfLink attach(int program, int frequency, int cpus, IntFunction<BpfException> refusal) {
    List<BpfLink> links = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
      attributes.set(JAVA_INT, 0, SOFTWARE);
      attributes.set(JAVA_INT, 4, ATTRIBUTES_BYTES);
      attributes.set(JAVA_LONG, 8, CPU_CLOCK);
      attributes.set(JAVA_LONG, 16, frequency);
      attributes.set(JAVA_LONG, 40, BY_FREQUENCY);
      for (int cpu = 0; cpu < cpus; cpu++) {
        long timer =
            SystemCall.PERF_EVENT_OPEN.call(
                attributes.address(), EVERY_PROCESS, cpu, NO_GROUP, CLOSE_ON_EXEC);
        if (timer != OFFLINE) {
          links.add(linked(program, new FileDescriptor(done(timer, refusal)), arena, refusal));
        }
      }
      return BpfLink.all(links);
    } catch (BpfException refused) {
      links.forEach(BpfLink::close);
      throw refused;
    }
  }

  private static int done(long result, IntFunction<BpfException> refusal) {
    if (Errno.isError(result)) {
      throw refusal.apply((int) -result);
    }
    return (int) result;
  }

  /** Attaches the program; the link keeps the timer running after its descriptor is closed. */
  private static BpfLink linked(
      int program, FileDescriptor timer, Arena arena, IntFunction<BpfException> refusal) {
    try (timer) {
      Arguments arguments =
          Arguments.in(arena).word(0, program).word(4, timer.number()).word(8, PERF_EVENT);
      int link = done(BpfCommand.LINK_CREATE.call(arguments), refusal);
      return BpfLink.open(new FileDescriptor(link));
    }
  }
}
