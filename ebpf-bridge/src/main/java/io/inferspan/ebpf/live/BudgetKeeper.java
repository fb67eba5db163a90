package io.inferspan.ebpf.live;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.kernel.TrapMeter;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.Threads;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The daemon thread that measures the cost of tracing, and sets the detail levels that the budget
 * allows.
 *
 * <p>Programs measure their own runs, at two clock readings each, for 50 ms at a time: after a
 * change of levels, when a cheap indicator has risen, and otherwise rarely. They do not measure
 * while every class is detached. The kernel's own statistics would need another capability, and
 * switching them on and off patches kernel code on all CPUs.
 */
final class BudgetKeeper {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final String OUR_THREADS = "inferspan-ebpf-";
  private static final Duration END = Duration.ofSeconds(2);

  /** The interval after a change that detached every class: nothing can be lowered further. */
  private static final long LOOK_DETACHED_MILLIS = 1_000;

  private static final long MEASURED_MILLIS = 50;

  /** The interval of measuring traps, whose cost changes with the processor's clock frequency. */
  private static final long TRAPS_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final List<Kind> KINDS =
      Arrays.stream(Kind.values()).filter(kind -> EventClass.of(kind) != null).toList();

  private final KernelSettings settings;
  private final KernelCounters counters;
  private final TrapMeter traps;
  private final DetailSwitch detail;
  private final CostMeter meter;
  private final BudgetController controller;
  private final Map<Counters.Programs, RunStats> runs = new EnumMap<>(Counters.Programs.class);
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;

  /** Whether the bridge slept when the current period began. */
  private boolean asleep;

  private BudgetKeeper(
      TracingBudget budget,
      KernelSide kernel,
      Readers readers,
      CostMeter.Sources sources,
      DetailSwitch detail) {
    this.settings = readers.settings();
    this.counters = readers.counters();
    this.traps = kernel.traps();
    this.detail = detail;
    this.meter = new CostMeter(budget, sources);
    this.controller =
        new BudgetController(
            meter.shares(),
            new BudgetController.Detachable(kernel.detachesQuickly(), kernel.detachesRequests()),
            Clocks.monotonicNanos());
    this.thread = Thread.ofPlatform().daemon().name(OUR_THREADS + "budget").unstarted(this::run);
  }

  /** The parts of the bridge from which the cost is read; the settings switch measuring on. */
  record Readers(
      KernelSettings settings, KernelCounters counters, SpanAccounting books, RingReader ring) {}

  /** Creates the keeper after the bridge's other threads have started; null without a budget. */
  static @Nullable BudgetKeeper of(
      BridgeConfig config, KernelSide kernel, Readers readers, DetailSwitch detail) {
    TracingBudget budget = config.budget();
    return budget == null
        ? null
        : new BudgetKeeper(
            budget,
            kernel,
            readers,
            new CostMeter.Sources(
                Clocks::monotonicNanos,
                config.wholeProcess() ? Clocks::processCpuNanos : ourThreads(),
                () -> Clocks.threadCpuNanos(0),
                readers.ring()::consumedBytes,
                events -> reported(readers.books(), events),
                readers.counters()::shed),
            detail);
  }

  /** Starts the thread. */
  void start() {
    thread.start();
  }

  private void run() {
    long next = 0;
    long nextTraps = 0;
    boolean tries = false;
    while (tries || !waited(lookMillis(next))) {
      tries = false;
      try {
        long now = Clocks.monotonicNanos();
        if (now >= nextTraps && meter.isOfTime()) {
          nextTraps = now + TRAPS_NANOS;
          meter.traps(traps.measure());
          meter.begin();
        }
        if (asleep != detail.isAsleep()) {
          asleep = !asleep;
          controller.sleep(asleep, now);
          meter.begin();
          next = 0;
        } else if (now >= next || (!controller.isAllDetached() && meter.mayHaveRisen())) {
          boolean changed = holdBudget();
          next = changed || controller.isUrgent() ? 0 : now + controller.restNanos(now);
          tries = changed && controller.isTrying();
        }
      } catch (RuntimeException e) {
        LOGGER.log(Level.DEBUG, "The cost of tracing could not be measured", e);
      }
    }
  }

  /**
   * Returns the time until the next look; without probes, only the next period can change levels.
   */
  private long lookMillis(long next) {
    long restMillis = TimeUnit.NANOSECONDS.toMillis(next - Clocks.monotonicNanos());
    boolean off = controller.isAllDetached();
    if (next == 0) {
      if (off) {
        return LOOK_DETACHED_MILLIS;
      }
      return controller.isConfirming() ? CostMeter.LOOK_MILLIS : meter.lookMillis();
    }
    return off ? Math.max(1, restMillis) : Math.clamp(restMillis, 1, meter.lookMillis());
  }

  /** Runs one period; returns whether levels have changed. */
  private boolean holdBudget() {
    long began = Clocks.threadCpuNanos(0);
    CostMeter.Programs programs = programs();
    if (asleep != detail.isAsleep()) {
      return false;
    }
    DetailLevels running = detail.now();
    if (asleep) {
      running = running.with(EventClass.CALLS, DetailLevel.FULL); // the collectives
    }
    Load load = meter.period(running, programs);
    DetailLevels before = controller.levels();
    boolean tried = controller.isTrying();
    boolean collectivesOff = controller.areCollectivesOff();
    DetailLevels levels = controller.period(load, Clocks.monotonicNanos());
    // While asleep, the costs of the other classes are not known.
    detail.expect(
        (asleep ? Stream.of(EventClass.REQUESTS) : Arrays.stream(EventClass.values()))
            .collect(Collectors.toMap(events -> events, events -> controller.next(load, events))));
    boolean pauses = controller.areCollectivesOff() && !collectivesOff;
    boolean changed = pauses || !levels.equals(before);
    if (changed) {
      detail.set(levels);
    }
    if (pauses) {
      detail.pauseCollectives();
    }
    if (!changed && !tried) {
      return false;
    }
    double spent = meter.budgetNanos(Clocks.threadCpuNanos(0) - began);
    controller.switched(spent, Clocks.monotonicNanos());
    if (changed) {
      meter.begin();
    }
    return changed;
  }

  private boolean waited(long millis) {
    try {
      return closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException closed) {
      return true;
    }
  }

  private CostMeter.Programs programs() {
    if (!meter.isOfTime() || controller.isAllDetached()) {
      boolean ignored = waited(MEASURED_MILLIS);
      return CostMeter.Programs.NONE;
    }
    long began = Clocks.monotonicNanos();
    settings.measure(true);
    try {
      boolean ignored = waited(MEASURED_MILLIS);
    } finally {
      settings.measure(false);
    }
    return new CostMeter.Programs(Math.max(1, Clocks.monotonicNanos() - began), newRuns());
  }

  private Map<Counters.Programs, RunStats> newRuns() {
    Map<Counters.Programs, RunStats> more = new EnumMap<>(Counters.Programs.class);
    for (Counters.Programs programs : Counters.Programs.values()) {
      RunStats now = counters.runs(programs);
      RunStats before = runs.put(programs, now);
      more.put(programs, before == null ? now : now.minus(before));
    }
    return more;
  }

  private static long reported(SpanAccounting books, EventClass events) {
    long sum = 0;
    for (Kind kind : KINDS) {
      sum += EventClass.of(kind) == events ? books.consumed(kind) : 0;
    }
    return sum;
  }

  /**
   * Returns a supplier of the CPU time of the bridge's threads. Tid 0 is the keeper's own thread,
   * which calls the supplier and has not started yet.
   */
  private static LongSupplier ourThreads() {
    List<Integer> ours = new ArrayList<>(Threads.named(OUR_THREADS));
    ours.add(0);
    return () -> ours.stream().mapToLong(Clocks::threadCpuNanos).sum();
  }

  /** Ends the thread; returns false if that takes too long. */
  boolean close() {
    closing.countDown();
    try {
      return thread.join(END);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
