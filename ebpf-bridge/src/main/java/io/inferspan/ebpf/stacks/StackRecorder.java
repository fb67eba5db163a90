package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.Resources;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.stacks.StackTable.Stack;
import io.inferspan.ebpf.stacks.StackTable.Sum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts stacks of processes until it is closed. Not thread-safe.
 *
 * <p>{@link #look} must be called regularly: it remembers the mappings of new processes, so that
 * their functions can be named after they have exited. {@link #counts} resolves the names.
 */
public final class StackRecorder implements AutoCloseable {

  private static final int ALL_PROCESSES = 0;
  private static final int TRACE_BYTES = 16;

  /** Flags of a target in the kernel's map. */
  private static final int COUNTED = 1;

  private static final int DEVICE_TOO = 2;

  /** The index of a counter in the kernel's map of losses. */
  private static final int LOST_RETURN = 2;

  private final BpfObject programs;
  private final StackScope scope;
  private final Kind kind;
  private final CudaCalls calls = new CudaCalls();
  private final List<BpfLink> links = new ArrayList<>();
  private final StackTable table;
  private final StackNames names;
  private @Nullable BridgeMaps bridge;
  private @Nullable LibraryProbes libraries;
  private @Nullable DeviceWork device;
  private long unnamed;
  private long looks;

  /** The events whose stacks are counted. */
  public enum Kind {
    /** Samples of running threads. */
    ON_CPU(0),
    /** Waits of threads, from leaving the CPU until they run again. */
    OFF_CPU(1),
    /** Successful CUDA launches, copies, fills of memory, and synchronisations. */
    CUDA(2),
    /** GPU kernels, or samples of their instructions, under the stacks of their launches. */
    DEVICE(3);

    /** The number of {@link #CUDA}, the first kind that records the stacks of calls. */
    static final int CALL_NUMBER = 2;

    /** The number of device samples. */
    static final int STALL_NUMBER = 4;

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    /** Returns the possible units; the first is the default. */
    public List<Unit> units() {
      return switch (this) {
        case ON_CPU -> List.of(Unit.SAMPLES);
        case OFF_CPU -> List.of(Unit.NANOS, Unit.CALLS);
        case CUDA -> List.of(Unit.CALLS, Unit.NANOS, Unit.BYTES);
        case DEVICE -> List.of(Unit.NANOS, Unit.CALLS, Unit.SAMPLES);
      };
    }

    boolean hasCalls() {
      return this == CUDA || this == DEVICE;
    }

    /** Returns its number in the kernel. */
    int number() {
      return number;
    }

    /** Returns the number of the stacks that are counted in a unit. */
    private int number(Unit unit) {
      return this == DEVICE && unit == Unit.SAMPLES ? STALL_NUMBER : number;
    }
  }

  private StackRecorder(StackScope scope, Kind kind) {
    this.scope = scope;
    this.kind = kind;
    String object = scope.needsBridge() ? "request_stacks" : "stacks";
    this.programs = BpfObject.open(object, Resources.object(object));
    this.table = new StackTable(programs);
    this.names = new StackNames(programs, table, calls, scope.byTrace());
  }

  /**
   * Starts counting stacks.
   *
   * @param frequency samples per second on each CPU, if running threads are sampled; use a number
   *     such as 99, which is not synchronous with periodic work
   */
  public static StackRecorder start(StackScope scope, Kind kind, int frequency) {
    StackRecorder recorder = new StackRecorder(scope, kind);
    try {
      recorder.load();
      recorder.attach(frequency);
    } catch (RuntimeException refused) {
      recorder.close();
      throw refused;
    }
    return recorder;
  }

  private void load() {
    if (kind.hasCalls()) {
      libraries = calls.probes(programs);
    } else {
      List.of("call_session", "call_enter", "call_return")
          .forEach(program -> programs.autoload(program, false));
    }
    if (kind == Kind.DEVICE) {
      device = DeviceWork.of(programs);
    } else {
      DeviceWork.leaveOut(programs);
    }
    programs
        .autoload("stack_sample", kind == Kind.ON_CPU)
        .autoload("stack_switch", kind == Kind.OFF_CPU);
    if (!scope.needsBridge()) {
      programs.load();
      return;
    }
    List<BridgeMaps> running = BridgeMaps.all();
    if (running.isEmpty()) {
      throw new BpfException(
          "no bridge is running, so it is unknown which request a thread serves",
          "start the agent first",
          "");
    }
    bridge = running.getLast();
    running.getLast().load(programs);
  }

  private void attach(int frequency) {
    List<Integer> pids = scope.pids().isEmpty() ? List.of(ALL_PROCESSES) : scope.pids();
    try (Arena arena = Arena.ofConfined()) {
      String traceId = scope.traceId();
      if (traceId != null) {
        MemorySegment wanted = MemorySegment.ofArray(HexFormat.of().parseHex(traceId));
        MemorySegment value = arena.allocate(TRACE_BYTES, Long.BYTES).copyFrom(wanted);
        programs.map("wanted_trace").put(arena.allocateFrom(JAVA_INT, 0), value);
      }
      int counted = kind == Kind.DEVICE ? COUNTED | DEVICE_TOO : COUNTED;
      for (int pid : pids) {
        programs
            .map("stack_targets")
            .put(arena.allocateFrom(JAVA_INT, pid), arena.allocateFrom(JAVA_INT, counted));
      }
    }
    IntStream running = ProcessHandle.allProcesses().mapToInt(process -> (int) process.pid());
    (scope.pids().isEmpty() ? running : scope.pids().stream().mapToInt(Integer::intValue))
        .forEach(names::remember);
    switch (kind) {
      case ON_CPU -> links.add(programs.program("stack_sample").attachTimer(frequency));
      case OFF_CPU -> links.add(programs.program("stack_switch").attach());
      case CUDA, DEVICE -> findLibraries();
    }
  }

  private void findLibraries() {
    LibraryProbes probes = libraries;
    if (probes != null) {
      scope.pids().forEach(probes::look);
    }
    DeviceWork work = device;
    if (work != null) {
      scope.pids().forEach(work::look);
    }
  }

  /**
   * Remembers the mappings of new processes, and finds newly mapped libraries; throws if the bridge
   * that provides the requests has ended.
   */
  public void look() {
    BridgeMaps running = bridge;
    if (running != null && !running.isRunning()) {
      throw new BpfException(
          "the bridge has ended, so it is unknown which request a thread serves",
          "start it again, then record again",
          "");
    }
    findLibraries();
    table.takeImages(names::remember);
    looks++;
    if (Long.bitCount(looks) == 1) {
      // At exponentially growing intervals, because a perf map can be large and keep growing.
      names.refreshCompiled();
    }
    if (kind.hasCalls()) {
      // Resolved now, because the kernel's table of names of GPU functions is small.
      counted().keySet().forEach(names::name);
    }
  }

  /**
   * Returns the number of stacks and pieces of device work that were not counted because of a hash
   * collision, a full table, or a wait whose end was not reported.
   */
  public long lost() {
    BpfMap losses = programs.map("stack_losses");
    return IntStream.range(0, losses.maxEntries()).mapToLong(losses::percpuSum).sum();
  }

  /** Returns how many of the {@link #lost} stacks are waits whose end was not reported. */
  long lostReturns() {
    return programs.map("stack_losses").percpuSum(LOST_RETURN);
  }

  /**
   * Returns how much of the total of the last {@link #counts} belongs to stacks with an unnamed
   * frame.
   */
  public long unnamed() {
    return unnamed;
  }

  /**
   * Returns the number of GPU kernels and samples that are not counted because their launch is
   * unknown.
   */
  public long unattributed() {
    DeviceWork work = device;
    return work == null ? 0 : work.waiting();
  }

  /**
   * Returns the counts so far, with names; throws if device work is recorded and no process has
   * loaded the library that reports it.
   */
  public StackCounts counts(Unit unit) {
    if (device != null) {
      device.check();
    }
    StackCounts counts = new StackCounts(unit);
    table.takeImages(names::remember);
    unnamed = 0;
    counted()
        .forEach(
            (stack, sum) -> {
              long amount = stack.kind() == kind.number(unit) ? sum.of(unit) : 0;
              if (amount > 0) {
                List<String> frames = names.of(stack);
                counts.add(frames, amount);
                unnamed += StackNames.isNamed(frames) ? 0 : amount;
              }
            });
    return counts;
  }

  /**
   * Returns a sentence for each process whose runtime does not provide the names of its functions.
   */
  public List<String> missingNames() {
    return names.missing();
  }

  private Map<Stack, Sum> counted() {
    DeviceWork work = device;
    if (work == null) {
      return table.counted();
    }
    // Waiting work is read first: work attributed in the meantime is then in the table.
    Map<Stack, Sum> late = work.attribute();
    Map<Stack, Sum> counted = table.counted();
    late.forEach((stack, sum) -> counted.merge(stack, sum, Sum::plus));
    return counted;
  }

  @Override
  public void close() {
    links.forEach(BpfLink::close);
    LibraryProbes probes = libraries;
    if (probes != null) {
      probes.close();
    }
    DeviceWork work = device;
    if (work != null) {
      work.close();
    }
    programs.close();
  }
}
