package io.inferspan.ebpf.live;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.Threads;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The daemon thread that measures the cost of tracing, and sets the detail levels that the budget
 * allows.
 *
 * <p>Measuring programs patches kernel code, and costs two clock readings per run of every BPF
 * program on the machine. Programs are therefore measured briefly: after a change of levels, when a
 * cheap indicator has risen, and otherwise rarely; not at all while every class is detached.
 */
final class BudgetKeeper {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final String OUR_THREADS = "inferspan-ebpf-";
  private static final Duration END = Duration.ofSeconds(2);
  private static final long LOOK_MILLIS = 250;
  private static final long MEASURED_MILLIS = 50;

  private static final List<Kind> KINDS =
      Arrays.stream(Kind.values()).filter(kind -> EventClass.of(kind) != null).toList();

  private final KernelSide kernel;
  private final DetailSwitch detail;
  private final CostMeter meter;
  private final BudgetController controller;
  private final boolean measures;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;

  private BudgetKeeper(
      TracingBudget budget, KernelSide kernel, CostMeter.Sources sources, DetailSwitch detail) {
    this.kernel = kernel;
    this.detail = detail;
    this.meter = new CostMeter(budget, sources);
    this.controller =
        new BudgetController(
            meter.shares(),
            new BudgetController.Detachable(kernel.detachesQuickly(), kernel.detachesRequests()),
            Clocks.monotonicNanos());
    this.measures = meter.isOfTime() && canMeasure();
    this.thread = Thread.ofPlatform().daemon().name(OUR_THREADS + "budget").unstarted(this::run);
  }

  /** The counters of reported events, and of those that were folded or counted instead. */
  record Readers(KernelCounters counters, SpanAccounting books, RingReader ring) {}

  /** Creates the keeper after the bridge's other threads have started; null without a budget. */
  static @Nullable BudgetKeeper of(
      BridgeConfig config, KernelSide kernel, Readers readers, DetailSwitch detail) {
    TracingBudget budget = config.budget();
    return budget == null
        ? null
        : new BudgetKeeper(
            budget,
            kernel,
            new CostMeter.Sources(
                Clocks::monotonicNanos,
                config.wholeProcess() ? Clocks::processCpuNanos : ourThreads(),
                readers.ring()::consumedBytes,
                events -> reported(readers.books(), events),
                readers.counters()::shed),
            detail);
  }

  /** Starts the thread; returns the limits of its measurement. */
  List<String> start() {
    thread.start();
    return measures == meter.isOfTime()
        ? List.of()
        : List.of(
            "the budget estimates the run time of programs from the number of their events,"
                + " because measuring it needs CAP_SYS_ADMIN");
  }

  private void run() {
    long next = 0;
    boolean tries = false;
    while (tries || !waited(LOOK_MILLIS)) {
      tries = false;
      try {
        long now = Clocks.monotonicNanos();
        if (now >= next || meter.mayHaveRisen()) {
          boolean changed = holdBudget();
          next = changed || controller.isUrgent() ? 0 : now + controller.restNanos(now);
          tries = changed && controller.isTrying();
        }
      } catch (RuntimeException e) {
        LOGGER.log(Level.DEBUG, "The cost of tracing could not be measured", e);
      }
    }
  }

  /** Runs one period; returns whether levels have changed. */
  private boolean holdBudget() {
    CostMeter.Programs programs = programs();
    Load load = meter.period(detail.now(), programs);
    DetailLevels before = controller.levels();
    DetailLevels levels = controller.period(load, Clocks.monotonicNanos());
    detail.set(levels);
    if (levels.equals(before)) {
      return false;
    }
    meter.begin();
    return true;
  }

  private boolean waited(long millis) {
    try {
      return closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException closed) {
      return true;
    }
  }

  private CostMeter.Programs programs() {
    if (!measures || controller.isAllDetached()) {
      boolean ignored = waited(MEASURED_MILLIS);
      return CostMeter.Programs.UNMEASURED;
    }
    FileDescriptor measuring = RunStats.enable();
    try {
      Map<String, RunStats> before = kernel.runs();
      long began = Clocks.monotonicNanos();
      boolean ignored = waited(MEASURED_MILLIS);
      Map<String, RunStats> runs = kernel.runs();
      long nanos = Math.max(1, Clocks.monotonicNanos() - began);
      runs.replaceAll((object, now) -> now.minus(before.getOrDefault(object, now)));
      return new CostMeter.Programs(nanos, runs);
    } finally {
      measuring.close();
    }
  }

  private static boolean canMeasure() {
    try {
      RunStats.enable().close();
      return true;
    } catch (RuntimeException refused) {
      return false;
    }
  }

  private static long reported(SpanAccounting books, EventClass events) {
    long sum = 0;
    for (Kind kind : KINDS) {
      sum += EventClass.of(kind) == events ? books.consumed(kind) : 0;
    }
    return sum;
  }

  private static LongSupplier ourThreads() {
    List<Integer> ours = Threads.named(OUR_THREADS);
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
