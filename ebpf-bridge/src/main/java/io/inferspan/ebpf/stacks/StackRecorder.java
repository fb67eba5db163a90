package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.Resources;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.linux.Demangler;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.symbols.Symbols;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts stacks of processes until it is closed. Belongs to one thread.
 *
 * <p>{@link #look} names the stacks that are new since it was called last, so that a process that
 * ends meanwhile has names too. What has no name then may get one later, of a map that a runtime
 * writes late, and is tried again when {@link #counts} asks.
 */
public final class StackRecorder implements AutoCloseable {

  private static final int EVERYBODY = 0;

  /** Of struct ispan_stack. */
  private static final int KEY_BYTES = 96;

  private static final int FUNCTION_AT = 8;
  private static final int TRACE_AT = 16;
  private static final int KERNEL_AT = 32;
  private static final int USER_AT = 64;
  private static final int TRACE_BYTES = 16;
  private static final int SUM_BYTES = 24;
  private static final int NAME_BYTES = 1024;
  private static final int FRAMES = 127;
  private static final String KERNEL = "_[k]";
  private static final String ON_GPU = "_[G]";
  private static final String TRUNCATED = "[truncated]";
  private static final String NO_TRACE = "0".repeat(2 * TRACE_BYTES);

  /** Inside of which the kernel calls the program that counts. */
  private static final String OWN_CALL = "bpf_trace_run";

  private final BpfObject programs;
  private final StackScope scope;
  private final CudaCalls calls = new CudaCalls();
  private final List<BpfLink> links = new ArrayList<>();
  private @Nullable BridgeMaps bridge;
  private @Nullable LibraryProbes libraries;
  private final Symbols symbols = Symbols.ofThisMachine();
  private final Map<Integer, String> processes = new HashMap<>();
  private final Map<Stack, List<String>> named = new HashMap<>();

  /** What stacks are counted by. */
  public enum Kind {
    /** Samples of what runs. */
    ON_CPU,
    /** How long it waited, from when a thread left its CPU until it was on one again. */
    OFF_CPU,
    /** Launches, copies and synchronisations of CUDA that succeeded, and what called them. */
    CUDA;

    /** What it can count; the usual first. */
    public List<Unit> units() {
      return switch (this) {
        case ON_CPU -> List.of(Unit.SAMPLES);
        case OFF_CPU -> List.of(Unit.NANOS, Unit.CALLS);
        case CUDA -> List.of(Unit.CALLS, Unit.NANOS, Unit.BYTES);
      };
    }
  }

  /** A stack as the kernel counts it. */
  private record Stack(
      int pid, Kind kind, int called, long function, String trace, Frames kernel, Frames user) {}

  /** The number of frames in the kernel's map, negative without any, and the ones inside them. */
  private record Frames(int number, List<Long> first) {

    static Frames in(MemorySegment key, int at) {
      List<Long> first = new ArrayList<>();
      for (int i = 0; i < key.get(JAVA_INT, at + 4L); i++) {
        first.add(key.get(JAVA_LONG, at + 8L + (long) i * Long.BYTES));
      }
      return new Frames(key.get(JAVA_INT, at), first);
    }
  }

  private record Sum(long count, long nanos, long bytes) {

    long of(Unit unit) {
      return switch (unit) {
        case SAMPLES, CALLS -> count;
        case NANOS -> nanos;
        case MICROS -> nanos / 1000;
        case BYTES -> bytes;
      };
    }
  }

  private StackRecorder(StackScope scope) {
    this.scope = scope;
    String object = scope.needsBridge() ? "request_stacks" : "stacks";
    this.programs = BpfObject.open(object, Resources.object(object));
  }

  /**
   * Starts to count stacks; of what runs {@code frequency} times a second and CPU, which had better
   * be no divisor of what else goes by the clock.
   */
  public static StackRecorder start(StackScope scope, Kind kind, int frequency) {
    StackRecorder recorder = new StackRecorder(scope);
    try {
      recorder.load(kind);
      recorder.attach(kind, frequency);
    } catch (RuntimeException refused) {
      recorder.close();
      throw refused;
    }
    return recorder;
  }

  private void load(Kind kind) {
    if (kind == Kind.CUDA) {
      libraries = calls.probes(programs);
    } else {
      List.of("call_session", "call_enter", "call_return")
          .forEach(program -> programs.autoload(program, false));
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

  private void attach(Kind kind, int frequency) {
    List<Integer> pids = scope.pids().isEmpty() ? List.of(EVERYBODY) : scope.pids();
    try (Arena arena = Arena.ofConfined()) {
      String traceId = scope.traceId();
      if (traceId != null) {
        MemorySegment wanted = MemorySegment.ofArray(HexFormat.of().parseHex(traceId));
        MemorySegment value = arena.allocate(TRACE_BYTES, Long.BYTES).copyFrom(wanted);
        programs.map("wanted_trace").put(arena.allocateFrom(JAVA_INT, 0), value);
      }
      for (int pid : pids) {
        programs
            .map("stack_targets")
            .put(arena.allocateFrom(JAVA_INT, pid), arena.allocateFrom(JAVA_INT, 1));
      }
    }
    scope.pids().forEach(symbols::remember);
    switch (kind) {
      case ON_CPU -> links.add(programs.program("stack_sample").attachTimer(frequency));
      case OFF_CPU -> links.add(programs.program("stack_switch").attach());
      case CUDA -> findLibraries();
    }
  }

  private void findLibraries() {
    LibraryProbes probes = libraries;
    if (probes != null) {
      scope.pids().forEach(probes::look);
    }
  }

  /**
   * Names the stacks that were counted so far, while their processes are there; throws where the
   * bridge has ended that knew what threads worked for.
   */
  public void look() {
    BridgeMaps running = bridge;
    if (running != null && !running.isRunning()) {
      throw new BpfException(
          "the bridge that knew the requests has ended", "record again while one runs", "");
    }
    findLibraries();
    counted().keySet().forEach(stack -> named.computeIfAbsent(stack, this::frames));
  }

  /** Stacks that were not counted: their place was another's, or there was no room. */
  public long lost() {
    BpfMap losses = programs.map("stack_losses");
    return losses.percpuSum(0) + losses.percpuSum(1);
  }

  /** What was counted until now, with names. */
  public StackCounts counts(Unit unit) {
    StackCounts counts = new StackCounts(unit);
    counted()
        .forEach(
            (stack, sum) -> {
              long amount = sum.of(unit);
              if (amount > 0) {
                counts.add(named.compute(stack, this::nowOrBefore), amount);
              }
            });
    return counts;
  }

  @Override
  public void close() {
    links.forEach(BpfLink::close);
    LibraryProbes probes = libraries;
    if (probes != null) {
      probes.close();
    }
    programs.close();
  }

  private List<String> nowOrBefore(Stack stack, @Nullable List<String> before) {
    boolean known = before != null && before.stream().noneMatch(frame -> frame.startsWith("0x"));
    return before != null && known ? before : frames(stack);
  }

  private List<String> frames(Stack stack) {
    List<String> user = new ArrayList<>();
    long[] addresses = addresses(stack.user());
    // But for the innermost, an address is where a call returns to, which may be the next
    // function; that of a call that has ended is one too.
    int exact = stack.kind() == Kind.CUDA ? -1 : 0;
    for (int i = addresses.length - 1; i >= 0; i--) {
      user.add(symbols.user(stack.pid(), i == exact ? addresses[i] : addresses[i] - 1));
    }
    boolean whole = addresses.length < FRAMES && StackRoots.isWhole(user);
    List<String> frames = new ArrayList<>();
    if (scope.byTrace()) {
      frames.add(
          stack.trace().equals(NO_TRACE)
              ? StackCounts.NO_TRACE
              : StackCounts.traceFrame(stack.trace()));
    }
    frames.add(processes.computeIfAbsent(stack.pid(), StackRecorder::name));
    if (!whole && addresses.length > 0) {
      frames.add(TRUNCATED);
    }
    frames.addAll(user);
    addInner(stack, frames);
    return frames;
  }

  private void addInner(Stack stack, List<String> frames) {
    if (stack.kind() == Kind.CUDA) {
      CudaCalls.Row row = calls.row(stack.called());
      frames.add(row.function());
      if (stack.function() != 0) {
        frames.add("-");
        frames.add(launched(stack, row) + ON_GPU);
      }
    }
    long[] inKernel = addresses(stack.kernel());
    for (int i = inKernel.length - 1; i >= 0; i--) {
      String name = symbols.kernel(i == 0 ? inKernel[i] : inKernel[i] - 1);
      if (name.startsWith(OWN_CALL)) {
        break;
      }
      frames.add(name + KERNEL);
    }
  }

  private String launched(Stack stack, CudaCalls.Row row) {
    if (row.namesByAddress()) {
      return symbols.user(stack.pid(), stack.function());
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment function = arena.allocate(JAVA_LONG, 2);
      function.setAtIndex(JAVA_LONG, 0, stack.function());
      function.setAtIndex(JAVA_LONG, 1, stack.pid());
      MemorySegment name = arena.allocate(NAME_BYTES);
      if (!programs.map("function_names").get(function, name)) {
        return "function 0x" + Long.toHexString(stack.function());
      }
      String text = name.getString(0);
      String plain = Demangler.demangle(text);
      String cut = text.length() == NAME_BYTES - 1 ? "…" : "";
      return (plain == null ? text : plain) + cut;
    }
  }

  private static String name(int pid) {
    try {
      return Files.readString(Path.of("/proc", Integer.toString(pid), "comm")).strip();
    } catch (IOException gone) {
      return "process " + pid;
    }
  }

  private Map<Stack, Sum> counted() {
    BpfMap map = programs.map("stack_counts");
    Map<Stack, Sum> counted = new HashMap<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
      MemorySegment sum = arena.allocate(SUM_BYTES, Long.BYTES);
      boolean more = map.nextKey(MemorySegment.NULL, key);
      // Entries are only added meanwhile, so that the walk ends.
      for (int i = 0; more && i < map.maxEntries(); i++) {
        if (map.get(key, sum)) {
          counted.put(
              stack(key),
              new Sum(sum.get(JAVA_LONG, 0), sum.get(JAVA_LONG, 8), sum.get(JAVA_LONG, 16)));
        }
        more = map.nextKey(key, key);
      }
    }
    return counted;
  }

  private static Stack stack(MemorySegment key) {
    return new Stack(
        key.get(JAVA_INT, 0),
        Kind.values()[key.get(JAVA_SHORT, 4)],
        key.get(JAVA_SHORT, 6),
        key.get(JAVA_LONG, FUNCTION_AT),
        HexFormat.of().formatHex(key.asSlice(TRACE_AT, TRACE_BYTES).toArray(JAVA_BYTE)),
        Frames.in(key, KERNEL_AT),
        Frames.in(key, USER_AT));
  }

  /** From the innermost on. */
  private long[] addresses(Frames frames) {
    LongStream first = frames.first().stream().mapToLong(Long::longValue);
    if (frames.number() < 0) {
      return first.filter(address -> address != 0).toArray();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rest = arena.allocate(JAVA_LONG, FRAMES);
      boolean known =
          programs.map("stacks").get(arena.allocateFrom(JAVA_INT, frames.number()), rest);
      int count = 0;
      while (known && count < FRAMES && rest.getAtIndex(JAVA_LONG, count) != 0) {
        count++;
      }
      long[] addresses = rest.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
      return LongStream.concat(first, Arrays.stream(addresses)).toArray();
    }
  }
}
