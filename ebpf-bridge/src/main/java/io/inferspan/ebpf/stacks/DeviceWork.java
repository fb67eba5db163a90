package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.probe.TracingPoints;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import io.inferspan.ebpf.stacks.StackTable.Frames;
import io.inferspan.ebpf.stacks.StackTable.Stack;
import io.inferspan.ebpf.stacks.StackTable.Sum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts GPU work by launch, from the USDT probes of parcagpu, a library that reads CUPTI in the
 * process that loads it.
 *
 * <p>Work that is reported before its launch has returned waits in a table in the kernel until
 * {@link #attribute} finds its launch.
 */
final class DeviceWork implements AutoCloseable {

  private static final String LIBRARY = "libparcagpucupti";
  private static final String PROVIDER = "parcagpu";
  private static final List<String> PROGRAMS =
      List.of("device_launch", "device_executed", "device_samples", "device_reasons");

  /** The size of {@code struct ispan_work}. */
  private static final int WORK_BYTES = 32;

  private static final int LAUNCH_BYTES = 8;
  private static final int OFFSET_AT = 16;
  private static final int REASON_AT = 24;
  private static final long NO_REASON = -1;

  private final BpfObject programs;
  private final TracingPoints points;

  /** The sums of the entries that were removed from the kernel's table. */
  private final Map<Stack, Sum> late = new HashMap<>();

  private Set<ByteBuffer> foundBefore = Set.of();

  private DeviceWork(BpfObject programs) {
    this.programs = programs;
    this.points =
        new TracingPoints(
            LIBRARY,
            PROVIDER,
            Map.of(
                "cuda_correlation", programs.program("device_launch"),
                "kernel_executed", programs.program("device_executed"),
                "pc_sample_batch", programs.program("device_samples"),
                "stall_reason_map", programs.program("device_reasons")));
  }

  /** Returns an instance that uses the programs of an object that is not loaded yet. */
  static DeviceWork of(BpfObject programs) {
    return new DeviceWork(programs);
  }

  /** Excludes the programs of an object from loading. */
  static void leaveOut(BpfObject programs) {
    PROGRAMS.forEach(program -> programs.autoload(program, false));
  }

  /** Attaches to the library if a process maps it. */
  void look(int pid) {
    points.look(pid);
  }

  /** Throws if no process maps the library, or if its probes could not be attached. */
  void check() {
    // Older versions of the library have no probes for PC sampling.
    if (points.isAttached("cuda_correlation") && points.isAttached("kernel_executed")) {
      return;
    }
    BpfException refused = points.refusal();
    if (refused != null) {
      throw refused;
    } else {
      throw new BpfException(
          "there is no device time, because no process has loaded " + LIBRARY + ".so",
          "start the process with CUDA_INJECTION64_PATH=<path of the library>, or record the host's"
              + " time with --cuda",
          "");
    }
  }

  /**
   * Returns all work whose launch became known after the work was reported. An entry is removed at
   * its second read, because the kernel may still add to it after the first.
   */
  Map<Stack, Sum> attribute() {
    Map<Stack, Sum> found = new HashMap<>();
    Set<ByteBuffer> now = new HashSet<>();
    forEachWaiting(
        (work, sum, launch) -> {
          if (launch == null) {
            return;
          }
          ByteBuffer key = ByteBuffer.wrap(work.toArray(JAVA_BYTE));
          boolean removed =
              foundBefore.contains(key) && programs.map("device_waiting").delete(work);
          if (!removed) {
            now.add(key);
          }
          if (launch.image().pid() != 0) {
            (removed ? late : found).merge(stack(launch, work), sum, Sum::plus);
          }
        });
    foundBefore = now;
    late.forEach((stack, sum) -> found.merge(stack, sum, Sum::plus));
    return found;
  }

  /** Returns the number of kernels and samples whose launch is still unknown. */
  long waiting() {
    long[] count = {0};
    forEachWaiting((work, sum, launch) -> count[0] += launch == null ? sum.count() : 0);
    return count[0];
  }

  /** Receives waiting work, and its launch if that is known. */
  private interface Waiting {
    void accept(MemorySegment work, Sum sum, @Nullable Stack launch);
  }

  private void forEachWaiting(Waiting each) {
    BpfMap waiting = programs.map("device_waiting");
    BpfMap launches = programs.map("device_launches");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment work = arena.allocate(WORK_BYTES, Long.BYTES);
      MemorySegment next = arena.allocate(WORK_BYTES, Long.BYTES);
      MemorySegment sum = arena.allocate(StackTable.SUM_BYTES, Long.BYTES);
      MemorySegment launch = arena.allocate(StackTable.KEY_BYTES, Long.BYTES);
      boolean more = waiting.nextKey(MemorySegment.NULL, work);
      for (int i = 0; more && i < waiting.maxEntries(); i++) {
        more = waiting.nextKey(work, next);
        if (waiting.get(work, sum)) {
          boolean known = launches.get(work.asSlice(0, LAUNCH_BYTES), launch);
          each.accept(work, Sum.in(sum), known ? Stack.in(launch) : null);
        }
        work.copyFrom(next);
      }
    }
  }

  private static Stack stack(Stack launch, MemorySegment work) {
    long reason = work.get(JAVA_LONG, REASON_AT);
    boolean sample = reason != NO_REASON;
    return new Stack(
        launch.image(),
        sample ? Kind.STALL_NUMBER : Kind.DEVICE.number(),
        launch.called(),
        work.get(JAVA_LONG, LAUNCH_BYTES),
        launch.trace(),
        sample
            ? new Frames(launch.kernel().number(), List.of(work.get(JAVA_LONG, OFFSET_AT), reason))
            : launch.kernel(),
        launch.user(),
        launch.innermost(),
        launch.python());
  }

  @Override
  public void close() {
    points.close();
  }
}
