package io.inferspan.ebpf.live;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.Threads;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The daemon thread that measures what tracing costs, and sets the levels that the budget allows.
 *
 * <p>Programs are measured only in a part of each period, since that costs two clock readings a run
 * of every BPF program of the machine.
 */
final class BudgetKeeper {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final String OUR_THREADS = "inferspan-ebpf-";
  private static final Duration END = Duration.ofSeconds(2);
  private static final long UNMEASURED_MILLIS = 200;
  private static final long MEASURED_MILLIS = 50;

  private final KernelSide kernel;
  private final DetailSwitch detail;
  private final CostMeter meter;
  private final BudgetController controller;
  private final boolean ofTime;
  private final boolean measures;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;

  private BudgetKeeper(
      TracingBudget budget, KernelSide kernel, CostMeter.Sources sources, DetailSwitch detail) {
    this.kernel = kernel;
    this.detail = detail;
    this.meter = new CostMeter(budget, sources);
    this.controller = new BudgetController(meter.shares(), kernel.detachesQuickly());
    this.ofTime = budget.unit() != TracingBudget.Unit.EVENTS;
    this.measures = ofTime && canMeasure();
    this.thread = Thread.ofPlatform().daemon().name(OUR_THREADS + "budget").unstarted(this::run);
  }

  /** Creates the keeper of a bridge whose other threads run; null if there is no budget. */
  static @Nullable BudgetKeeper of(
      BridgeConfig config,
      KernelSide kernel,
      KernelCounters counters,
      SpanAccounting books,
      DetailSwitch detail) {
    TracingBudget budget = config.budget();
    return budget == null
        ? null
        : new BudgetKeeper(
            budget,
            kernel,
            new CostMeter.Sources(
                Clocks::monotonicNanos,
                config.wholeProcess() ? Clocks::processCpuNanos : ourThreads(),
                events -> reported(books, events),
                counters::shed),
            detail);
  }

  /** Begins to hold the budget; returns what is not measured. */
  List<String> start() {
    thread.start();
    return measures == ofTime
        ? List.of()
        : List.of(
            "the budget takes the run time of programs from the number of their events, since to"
                + " measure it needs CAP_SYS_ADMIN");
  }

  private void run() {
    while (!waited(UNMEASURED_MILLIS)) {
      try {
        CostMeter.Programs programs = programs();
        detail.set(controller.period(meter.period(detail.now(), programs)));
      } catch (RuntimeException e) {
        LOGGER.log(Level.DEBUG, "The cost could not be measured", e);
      }
    }
  }

  private boolean waited(long millis) {
    try {
      return closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException closed) {
      return true;
    }
  }

  private CostMeter.Programs programs() {
    if (!measures) {
      boolean ignored = waited(MEASURED_MILLIS);
      return CostMeter.Programs.UNMEASURED;
    }
    FileDescriptor measuring = RunStats.enable();
    try {
      Map<String, RunStats> before = runs();
      long began = Clocks.monotonicNanos();
      boolean ignored = waited(MEASURED_MILLIS);
      Map<String, RunStats> runs = runs();
      long nanos = Math.max(1, Clocks.monotonicNanos() - began);
      runs.replaceAll((object, now) -> difference(now, before.getOrDefault(object, now)));
      return new CostMeter.Programs(nanos, runs);
    } finally {
      measuring.close();
    }
  }

  private Map<String, RunStats> runs() {
    Map<String, RunStats> runs = new HashMap<>();
    for (ProgramState program : kernel.programs()) {
      RunStats now = new RunStats(program.runs(), program.runNanos());
      runs.merge(program.object(), now, (one, other) -> difference(one, negative(other)));
    }
    return runs;
  }

  private static RunStats difference(RunStats now, RunStats before) {
    return new RunStats(now.count() - before.count(), now.totalNanos() - before.totalNanos());
  }

  private static RunStats negative(RunStats stats) {
    return new RunStats(-stats.count(), -stats.totalNanos());
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
    for (Kind kind : Kind.values()) {
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
