package io.inferspan.samples.ebpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.ring.EventHandler;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.spans.EventSink;
import io.inferspan.ebpf.spans.FoldOptions;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Owner;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Measures the CPU time per event of readers of a BPF ring buffer: libbpf in C, libbpf with an
 * upcall to Java per event, the bridge's reader, and the bridge's reader with folding, which merges
 * similar events into one span. The readers take turns on one ring, which a BPF program fills.
 */
@SuppressWarnings("restricted")
public final class RingComparison {

  private static final int ROUNDS = 21;
  private static final int WARM_UP = 6;
  private static final long RING_BYTES = 64L << 20;
  private static final double BAR_TO_C = 1.3;
  private static final double BAR_TO_UPCALL = 0.3;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static long sum;

  private final BpfProgram fill;
  private final MemorySegment filling;
  private final Map<String, double[]> nanos = new LinkedHashMap<>();
  private final Map<String, Long> bytes = new LinkedHashMap<>();

  private RingComparison(BpfProgram fill, Arena arena) {
    this.fill = fill;
    this.filling = arena.allocate(2 * JAVA_LONG.byteSize(), 8);
  }

  /** Reads all events of a full ring. */
  private interface Consumer {
    void consume() throws Throwable;
  }

  /**
   * Runs the comparison. The arguments are the BPF object with the program that fills the ring, and
   * the library with the C reader; both are paths.
   */
  public static void main(String[] arguments) throws Throwable {
    byte[] elf = Files.readAllBytes(Path.of(arguments[0]));
    try (Arena arena = Arena.ofShared();
        BpfObject object = BpfObject.open("fill", elf).load();
        RingMemory memory = RingMemory.map(object.map("ring").fd(), RING_BYTES)) {
      RingComparison comparison = new RingComparison(object.program("fill"), arena);
      comparison.run(Path.of(arguments[1]), object.map("ring").fd(), memory);
      System.exit(comparison.report() ? 0 : 1);
    }
  }

  private void run(Path library, int fd, RingMemory memory) throws Throwable {
    SymbolLookup peer = SymbolLookup.libraryLookup(library, Arena.global());
    SymbolLookup libbpf = SymbolLookup.libraryLookup("libbpf.so.1", Arena.global());
    Linker linker = Linker.nativeLinker();
    MethodHandle consume =
        linker.downcallHandle(
            peer.findOrThrow("peer_consume"), FunctionDescriptor.of(JAVA_INT, ADDRESS));
    MethodHandle open =
        linker.downcallHandle(
            peer.findOrThrow("peer_open"), FunctionDescriptor.of(ADDRESS, JAVA_INT));
    MethodHandle create =
        linker.downcallHandle(
            libbpf.findOrThrow("ring_buffer__new"),
            FunctionDescriptor.of(ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    MemorySegment inC = (MemorySegment) open.invokeExact(fd);
    MemorySegment upcalls =
        (MemorySegment)
            create.invokeExact(fd, upcall(linker), MemorySegment.NULL, MemorySegment.NULL);
    for (int round = 0; round < ROUNDS; round++) {
      boolean counted = round >= WARM_UP;
      measure("libbpf in C", counted, () -> ignore((int) consume.invokeExact(inC)));
      measure(
          "libbpf, upcall per event", counted, () -> ignore((int) consume.invokeExact(upcalls)));
      measure("our reader", counted, ours(memory, new Sum()));
      measure("our reader and folding", counted, ours(memory, sink()));
    }
  }

  private static void ignore(int events) {
    sum += events;
  }

  private static Consumer ours(RingMemory memory, EventHandler handler) {
    RingReader reader = new RingReader(memory);
    return () -> reader.drain(handler);
  }

  private static EventSink sink() {
    return new EventSink(
        Telemetry.using(OpenTelemetry.noop()),
        FoldOptions.defaults(),
        new EventSink.Sources(
            Clocks::monotonicNanos,
            Clocks::realtimeNanos,
            () -> 0,
            (number, tgid, tid) -> new Owner(number, Owner.Kind.REQUEST, 0, 1, 1, tgid, null),
            pid -> ProcessIdentity.UNKNOWN,
            KernelSums.NONE,
            null,
            (kind, event) -> {}));
  }

  private static final class Sum implements EventHandler {
    @Override
    public void event(EventView event) {
      sum += event.endNanos() - event.startNanos() + event.kind() + event.amount();
    }
  }

  private static MemorySegment upcall(Linker linker) throws ReflectiveOperationException {
    MethodHandle take =
        MethodHandles.lookup()
            .findStatic(
                RingComparison.class,
                "take",
                MethodType.methodType(
                    int.class, MemorySegment.class, MemorySegment.class, long.class));
    return linker.upcallStub(
        take, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG), Arena.global());
  }

  @SuppressWarnings("unused") // libbpf calls it
  private static int take(MemorySegment context, MemorySegment record, long size) {
    MemorySegment event = record.reinterpret(size);
    sum +=
        event.get(JAVA_LONG, 8)
            - event.get(JAVA_LONG, 0)
            + event.get(JAVA_INT, 48)
            + event.get(JAVA_LONG, 56);
    return 0;
  }

  private void measure(String name, boolean counted, Consumer consumer) throws Throwable {
    filling.set(JAVA_LONG, 0, 8_000_000L);
    fill.run(filling);
    long events = filling.get(JAVA_LONG, JAVA_LONG.byteSize());
    if (events < 100_000) {
      throw new IllegalStateException(
          "Only " + events + " events fitted into the ring, so it was not empty before the round");
    }
    long bytesBefore = THREADS.getCurrentThreadAllocatedBytes();
    long before = THREADS.getCurrentThreadCpuTime();
    consumer.consume();
    long took = THREADS.getCurrentThreadCpuTime() - before;
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - bytesBefore;
    if (counted) {
      double[] old = nanos.getOrDefault(name, new double[0]);
      double[] all = Arrays.copyOf(old, old.length + 1);
      all[old.length] = took / (double) events;
      nanos.put(name, all);
      bytes.merge(name, allocated * 1_000 / events, Math::max);
    }
  }

  private boolean report() {
    System.out.printf(
        Locale.ROOT,
        "%-28s %8s %8s %8s %12s%n",
        "ns of CPU time per event",
        "median",
        "min",
        "max",
        "B/event");
    for (String name : nanos.keySet()) {
      double[] sorted = sorted(name);
      System.out.printf(
          Locale.ROOT,
          "%-28s %8.1f %8.1f %8.1f %12.3f%n",
          name,
          median(name),
          sorted[0],
          sorted[sorted.length - 1],
          bytes.getOrDefault(name, 0L) / 1e3);
    }
    double toC = median("our reader") / median("libbpf in C");
    double toUpcall = median("our reader") / median("libbpf, upcall per event");
    boolean met = row("our reader / libbpf in C", toC, BAR_TO_C);
    met &= row("our reader / upcall", toUpcall, BAR_TO_UPCALL);
    // Printed so that the JIT compiler cannot remove the reads.
    System.out.println("(sum " + sum + ")");
    return met;
  }

  private static boolean row(String what, double measured, double bar) {
    System.out.printf(
        Locale.ROOT,
        "%-28s %8.2f %8.2f %s%n",
        what,
        measured,
        bar,
        measured <= bar ? "ok" : "MISS");
    return measured <= bar;
  }

  private double median(String name) {
    double[] sorted = sorted(name);
    return sorted[sorted.length / 2];
  }

  private double[] sorted(String name) {
    double[] sorted = Objects.requireNonNull(nanos.get(name), name).clone();
    Arrays.sort(sorted);
    return sorted;
  }
}
