package io.inferspan.ebpf.coldstart;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.kernel.Resources;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.symbols.Symbols;
import io.inferspan.ebpf.symbols.Symbols.Image;
import io.inferspan.ebpf.wire.EventView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Collects stacks of a process tree: samples of running threads, and the thread that ended each
 * wait of more than a millisecond. Not thread-safe. {@link #poll} must be called often, because the
 * mappings of a process disappear when it exits. Symbols are resolved at the end, so that resolving
 * them does not compete with the observed start for CPUs.
 */
public final class StackEvents implements AutoCloseable {

  private static final int HERTZ = 99;
  private static final int FRAMES = 64;
  private static final int NAMED_FRAMES = 4;
  private static final int SAMPLE = 1;
  private static final int WAKE = 2;
  private static final String UNKNOWN = "[unknown]";
  private static final Pattern INTERRUPT = Pattern.compile(".*(sysvec|interrupt|irq_exit).*");

  private final BpfObject programs = BpfObject.open("starts", Resources.object("starts"));
  private final List<BpfLink> links = new ArrayList<>();
  private final Symbols symbols = Symbols.ofThisMachine();
  private final List<RawEvent> rawEvents = new ArrayList<>();
  private final Set<Stack> mapped = new HashSet<>();
  private final Map<Stack, String> named = new HashMap<>();
  private long listenNanos;
  private @Nullable RingMemory ring;
  private @Nullable RingReader reader;

  /** A sampled stack of a thread, the innermost function first. */
  record Sample(int tid, long nanos, String stack) {}

  /** A wait of a thread, the thread that ended it, and that thread's stack. */
  record Wake(
      int tid, long startNanos, long endNanos, int byPid, int byTid, String byName, String stack) {

    private String by() {
      String thread = "ended by thread %d (%s) of process %d".formatted(byTid, byName, byPid);
      return stack.isEmpty() ? thread : thread + " in " + stack;
    }
  }

  /** The samples, the wakes, and the names of threads, by tid. */
  record Collected(List<Sample> samples, List<Wake> wakes, Map<Integer, String> names) {

    Collected(List<Sample> samples, List<Wake> wakes) {
      this(samples, wakes, Map.of());
    }

    private static final int TOP_STACKS = 2;
    private static final double PERCENT = 100;

    /**
     * Returns the most frequent stacks of a thread between two times or, if it waited, the thread
     * that ended its wait; empty if unknown.
     */
    String why(int tid, ThreadState state, long from, long to) {
      return switch (state) {
        case ON_CPU_USER, ON_CPU_KERNEL, RUN_QUEUE -> topStacks(tid, from, to);
        case FUTEX_PIPE_SOCKET, SLEEP -> waker(tid, from, to);
        case DISK_OR_FAULT, DEVICE -> "";
      };
    }

    private String topStacks(int tid, long from, long to) {
      Map<String, Long> counts =
          samples.stream()
              .filter(sample -> sample.tid() == tid)
              .filter(sample -> sample.nanos() >= from && sample.nanos() < to)
              .collect(Collectors.groupingBy(Sample::stack, Collectors.counting()));
      double all = counts.values().stream().mapToLong(Long::longValue).sum();
      return counts.entrySet().stream()
          .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
          .limit(TOP_STACKS)
          .map(top -> Math.round(PERCENT * top.getValue() / all) + " % in " + top.getKey())
          .collect(Collectors.joining("; "));
    }

    /** Describes the thread that ended the longest wait between two times. */
    private String waker(int tid, long from, long to) {
      return wakes.stream()
          .filter(wake -> wake.tid() == tid)
          .filter(wake -> wake.endNanos() > from && wake.startNanos() < to)
          .max(Comparator.comparingLong(wake -> wake.endNanos() - wake.startNanos()))
          .map(Wake::by)
          .orElse("");
    }
  }

  private record Stack(int pid, int user, int kernel) {

    Stack withoutKernel() {
      return new Stack(pid, user, -1);
    }
  }

  /** A sample or a wake as the programs report it, before symbols are resolved. */
  private record RawEvent(
      int kind, Stack stack, int tid, long startNanos, long endNanos, int woken, String comm) {}

  /** Attaches the programs, which collect nothing before {@link #follow}. */
  public static StackEvents start() {
    StackEvents events = new StackEvents();
    try {
      events.attach();
      return events;
    } catch (RuntimeException refused) {
      events.close();
      throw refused;
    }
  }

  private void attach() {
    boolean ignored = symbols.kernelIsVisible(); // reads its functions before anything is timed
    programs.load();
    BpfMap events = programs.map("start_events");
    RingMemory memory = RingMemory.map(events.fd(), events.maxEntries());
    ring = memory;
    reader = new RingReader(memory);
    programs.programs().stream()
        .map(
            program ->
                program.name().equals("start_sample")
                    ? program.attachTimer(HERTZ)
                    : program.attach())
        .forEach(links::add);
  }

  /** Follows a process, and its current and future descendants. */
  public void follow(ProcessHandle root) {
    try (Arena arena = Arena.ofConfined()) {
      Stream.concat(Stream.of(root), root.descendants())
          .map(process -> arena.allocateFrom(JAVA_INT, (int) process.pid()))
          .forEach(pid -> programs.map("start_targets").put(pid, arena.allocateFrom(JAVA_INT, 1)));
    }
  }

  /** Reads the events that have arrived. */
  public void poll() {
    if (reader != null) {
      long ignored = reader.drain(this::add);
    }
  }

  private void add(EventView event) {
    if (event.kind() != SAMPLE && event.kind() != WAKE) {
      listenNanos = listenNanos == 0 ? event.endNanos() : listenNanos;
      return;
    }
    Stack stack =
        new Stack(event.tgid(), (int) (event.detail() >>> Integer.SIZE), (int) event.detail());
    rawEvents.add(
        new RawEvent(
            event.kind(),
            stack,
            event.tid(),
            event.startNanos(),
            event.endNanos(),
            (int) event.extra(),
            event.text()));
    if (mapped.add(stack.withoutKernel())) {
      Arrays.stream(addresses(stack.user()))
          .limit(1) // without frame pointers, only the innermost is an address
          .forEach(address -> symbols.remember(Image.now(stack.pid()), address));
    }
  }

  /** Returns when the first socket began to listen for TCP connections; 0 if none did. */
  public long listenNanos() {
    return listenNanos;
  }

  /** Returns the number of events that were lost because a buffer was full. */
  public long lost() {
    return programs.map("start_losses").percpuSum(0);
  }

  /** Returns the samples and wakes so far, with resolved symbols. */
  Collected collected() {
    Collected collected = new Collected(new ArrayList<>(), new ArrayList<>(), new HashMap<>());
    for (RawEvent raw : rawEvents) {
      collected.names().put(raw.tid(), raw.comm());
      Stack stack = raw.stack();
      if (raw.kind() == SAMPLE) {
        String name = named.computeIfAbsent(stack, this::name);
        collected
            .samples()
            .add(new Sample(raw.tid(), raw.endNanos(), name.isEmpty() ? UNKNOWN : name));
      } else if (kernelFrames(stack.kernel()).stream().noneMatch(INTERRUPT.asMatchPredicate())) {
        collected
            .wakes()
            .add(
                new Wake(
                    raw.woken(),
                    raw.startNanos(),
                    raw.endNanos(),
                    stack.pid(),
                    raw.tid(),
                    raw.comm(),
                    named.computeIfAbsent(stack.withoutKernel(), this::name)));
      }
    }
    return collected;
  }

  @Override
  public void close() {
    links.forEach(BpfLink::close);
    if (ring != null) {
      ring.close();
    }
    programs.close();
  }

  private String name(Stack stack) {
    List<String> names = new ArrayList<>();
    kernelFrames(stack.kernel()).stream().limit(1).forEach(names::add);
    long[] addresses = addresses(stack.user());
    for (int i = 0; i < addresses.length && names.size() < NAMED_FRAMES; i++) {
      // All addresses except the innermost are return addresses.
      String name = symbols.user(Image.now(stack.pid()), i == 0 ? addresses[i] : addresses[i] - 1);
      if (name.startsWith("0x")) { // Without frame pointers, the rest are not callers.
        break;
      }
      names.add(name);
    }
    return String.join(" < ", names);
  }

  private List<String> kernelFrames(int stack) {
    List<String> names = new ArrayList<>();
    for (long address : addresses(stack)) {
      names.add(symbols.kernel(address - 1));
    }
    return names;
  }

  private long[] addresses(int stack) {
    if (stack < 0) {
      return new long[0];
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment addresses = arena.allocate(JAVA_LONG, FRAMES);
      boolean known =
          programs.map("start_stacks").get(arena.allocateFrom(JAVA_INT, stack), addresses);
      int count = 0;
      while (known && count < FRAMES && addresses.getAtIndex(JAVA_LONG, count) != 0) {
        count++;
      }
      return addresses.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
    }
  }
}
