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
 * Counts stacks of processes until it is closed. Belongs to one thread.
 *
 * <p>{@link #look} remembers what the processes that are new have mapped, so that a process that
 * ends meanwhile has names too. {@link #counts} looks the names up.
 */
public final class StackRecorder implements AutoCloseable {

  private static final int EVERYBODY = 0;
  private static final int TRACE_BYTES = 16;

  /** Of a target in the kernel's map. */
  private static final int COUNTED = 1;

  private static final int DEVICE_TOO = 2;

  /** Of the kernel's losses. */
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

  /** What stacks are counted by. */
  public enum Kind {
    /** Samples of what runs. */
    ON_CPU(0),
    /** How long it waited, from when a thread left its CPU until it was on one again. */
    OFF_CPU(1),
    /** Launches, copies and synchronisations of CUDA that succeeded, and what called them. */
    CUDA(2),
    /** Kernels that the device ran, or samples of their instructions, and what launched them. */
    DEVICE(3);

    /** From this number on, a stack is that of a call. */
    static final int CALL_NUMBER = 2;

    /** Of samples of the device. */
    static final int STALL_NUMBER = 4;

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    /** What it can count; the usual first. */
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

    /** As the kernel numbers it. */
    int number() {
      return number;
    }

    /** As the kernel numbers what counts in this unit. */
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
   * Starts to count stacks; of what runs {@code frequency} times a second and CPU, which had better
   * be no divisor of what else goes by the clock.
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
      throw new BpfException("no bridge runs, which knows requests", "start the agent before", "");
    }
    bridge = running.getLast();
    running.getLast().load(programs);
  }

  private void attach(int frequency) {
    List<Integer> pids = scope.pids().isEmpty() ? List.of(EVERYBODY) : scope.pids();
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
   * Remembers what processes have mapped, while they are there; throws where the bridge has ended
   * that knew what threads worked for.
   */
  public void look() {
    BridgeMaps running = bridge;
    if (running != null && !running.isRunning()) {
      throw new BpfException(
          "the bridge that knew the requests has ended", "record again while one runs", "");
    }
    findLibraries();
    table.takeImages(names::remember);
    looks++;
    if (Long.bitCount(looks) == 1) {
      // Seldom in the long run, since a map can be large and grow all the time.
      names.refreshCompiled();
    }
    if (kind.hasCalls()) {
      // The kernel keeps the names of few functions of the device.
      counted().keySet().forEach(names::name);
    }
  }

  /**
   * Stacks and work of the device that were not counted: their place was another's, there was no
   * room, or the kernel did not report the end of a wait.
   */
  public long lost() {
    BpfMap losses = programs.map("stack_losses");
    return IntStream.range(0, losses.maxEntries()).mapToLong(losses::percpuSum).sum();
  }

  /** Of {@link #lost}, waits whose end the kernel did not report. */
  long lostReturns() {
    return programs.map("stack_losses").percpuSum(LOST_RETURN);
  }

  /** What of the last {@link #counts} has a frame without a name. */
  public long unnamed() {
    return unnamed;
  }

  /** Kernels and samples of the device that are not counted, since their launch is not known. */
  public long unattributed() {
    DeviceWork work = device;
    return work == null ? 0 : work.waiting();
  }

  /**
   * What was counted until now, with names; throws if this is the device's work, and no process has
   * the library that reports it.
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

  /** Processes with stacks whose runtime does not say what its functions are, a sentence each. */
  public List<String> missingNames() {
    return names.missing();
  }

  private Map<Stack, Sum> counted() {
    DeviceWork work = device;
    if (work == null) {
      return table.counted();
    }
    // First what waits: what the kernel counts now is in its table then.
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
