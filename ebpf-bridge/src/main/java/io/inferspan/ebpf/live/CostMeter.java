package io.inferspan.ebpf.live;

import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.kernel.TrapTimes;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * Computes the cost of tracing in a period, relative to the budget, and divides it among the
 * classes.
 *
 * <p>The programs report an event or, at a lower level of detail, shed it: they only add it to a
 * sum or a count. The events <em>seen</em> are those reported and those shed.
 *
 * <p>Programs at system calls serve two classes, so their time is divided: an estimated time for
 * each call seen counts as {@link EventClass#SYSCALLS}, and the rest of the programs' time as
 * {@link EventClass#REQUESTS}.
 */
final class CostMeter {

  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  /**
   * The approximate CPU time of each level relative to full detail, as measured on Linux 6.18 for
   * launches. Before 6.13, counting them costs more.
   */
  private static final double[] CPU_SHARES = {1, 0.7, 0.6, 0.3, 0};

  /** The reported events of each level relative to full detail. */
  private static final double[] EVENT_SHARES = {1, 1.0 / 16, 0, 0, 0};

  /** The size of an event in the ring, with its header. */
  private static final double RECORD_BYTES = 72;

  /**
   * The estimated time to report a system call in full detail. The programs' other work, at every
   * system call, is not part of it.
   */
  private static final long EVENT_NANOS = 500;

  /**
   * The maximum time to read an event; the reader's time beyond it belongs to no class, because the
   * reader wakes for few events, too.
   */
  private static final long READ_NANOS = 2_000;

  /** The factor by which a cheap indicator must rise before the cost is measured again. */
  private static final double RISE = 1.2;

  private static final double FEW_PER_SECOND = 100;
  private static final double LITTLE_CPU = 0.1;

  static final long LOOK_MILLIS = 250;

  /** Budgets of less CPU time per second are tight: each wake of a thread uses 0.1 to 0.2 ms. */
  private static final double TIGHT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The seconds over which the agent's CPU time is averaged: its wakes are few and long. */
  private static final double SMOOTHED = 2;

  /** The growth that a burst of the JVM's compiler or garbage collector can pretend. */
  private static final double MOST_GROWTH = 2;

  /** A few wakes of the agent's threads, whose number in a period varies. */
  private static final double FEW_WAKES_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * The shortest period whose CPU time of the agent counts. In a shorter one, a single wake or the
   * measurement itself would exceed a small budget.
   */
  private static final double SHORTEST_SECONDS = 0.2;

  private final TracingBudget budget;
  private final Sources sources;
  private Reading before;
  private Reading looked;

  /** The CPU time of the agent per second, averaged over some periods. */
  private double lastCpu;

  /** The CPU time of the agent per second in the last period alone, at most the average. */
  private double leastCpu;

  private double lastBytes;
  private TrapTimes traps = TrapTimes.ASSUMED;

  /**
   * The sources of costs, as totals since the start.
   *
   * @param clock the current time
   * @param cpu the CPU time of the threads that read the events, and of the one that measures
   * @param measuring the CPU time of the one that measures
   * @param bytes the bytes that those threads have read
   * @param reported the number of events of a class that were read
   * @param shed the number of events of a class that were folded or counted instead
   */
  record Sources(
      LongSupplier clock,
      LongSupplier cpu,
      LongSupplier measuring,
      LongSupplier bytes,
      ToLongFunction<EventClass> reported,
      ToLongFunction<EventClass> shed) {}

  /**
   * The runs of programs in a period.
   *
   * @param nanos the length of the period
   */
  record Programs(long nanos, Map<Counters.Programs, RunStats> runs) {

    static final Programs NONE = new Programs(1, Map.of());

    Programs {
      runs = Map.copyOf(runs);
    }

    private double nanosPerSecond(Counters.Programs which) {
      return runs.getOrDefault(which, new RunStats(0, 0)).totalNanos() * perSecond();
    }

    private double runsPerSecond(Counters.Programs which) {
      return runs.getOrDefault(which, new RunStats(0, 0)).count() * perSecond();
    }

    private double perSecond() {
      return NANOS_PER_SECOND / nanos;
    }
  }

  private record Reading(
      long nanos,
      long cpu,
      long measuring,
      long bytes,
      Map<EventClass, Long> reported,
      Map<EventClass, Long> seen) {

    private double seconds(Reading since) {
      return Math.max(nanos - since.nanos, 1) / NANOS_PER_SECOND;
    }
  }

  CostMeter(TracingBudget budget, Sources sources) {
    this.budget = budget;
    this.sources = sources;
    this.before = reading();
    this.looked = before;
  }

  /** Sets the time that the kernel takes to enter and leave a probe, without its program. */
  void traps(TrapTimes measured) {
    traps = measured;
  }

  /**
   * Returns the period, in nanoseconds, in which the budget allows {@code cpuNanos} of CPU time; 0
   * if the budget does not limit CPU time.
   */
  double budgetNanos(long cpuNanos) {
    return isOfTime() ? cpuNanos / nanosPerSecond() * NANOS_PER_SECOND : 0;
  }

  /**
   * Returns the time between looks at cheap indicators, and of the periods in which a change is
   * checked. With a small budget it is longer, because some wakes of the agent's threads more or
   * less would exceed the budget of a short period.
   */
  long lookMillis() {
    return isTight(budget) ? 2 * LOOK_MILLIS : LOOK_MILLIS;
  }

  /** Returns whether the budget is so small that threads should wake less often. */
  static boolean isTight(TracingBudget budget) {
    return isOfTime(budget) && nanosPerSecond(budget) < TIGHT_NANOS;
  }

  /** Returns the cost of each level, relative to full detail. */
  double[] shares() {
    return (isOfTime() ? CPU_SHARES : EVENT_SHARES).clone();
  }

  /** Returns whether the budget limits CPU time. */
  boolean isOfTime() {
    return isOfTime(budget);
  }

  private static boolean isOfTime(TracingBudget budget) {
    return budget.unit() == TracingBudget.Unit.CORE || budget.unit() == TracingBudget.Unit.NODE;
  }

  /** Starts a new period after a change of levels. */
  void begin() {
    begin(reading());
  }

  /** Returns whether cheap indicators suggest that the cost has risen since the last period. */
  boolean mayHaveRisen() {
    Reading now = look(before.reported(), before.seen());
    double seconds = now.seconds(looked);
    double bytes = (now.bytes() - looked.bytes()) / seconds;
    looked = now;
    double usualCpu = (RISE * lastCpu + LITTLE_CPU * nanosPerSecond()) * now.seconds(before);
    return bytes > RISE * lastBytes + FEW_PER_SECOND * RECORD_BYTES
        || (isOfTime() && now.cpu() - before.cpu() > usualCpu + FEW_WAKES_NANOS);
  }

  /** Returns the cost since the last call of this method or of {@link #begin}. */
  Load period(DetailLevels levels, Programs programs) {
    Reading now = reading();
    Reading since = before;
    begin(now);
    double seconds = now.seconds(since);
    lastBytes = (now.bytes() - since.bytes()) / seconds;
    if (seconds >= SHORTEST_SECONDS) {
      // Measuring takes as long in a short period as in the usual one, which is longer.
      long measuring = now.measuring() - since.measuring();
      double others = (now.cpu() - since.cpu() - measuring) / seconds;
      double cpu = others + measuring / Math.max(seconds, 1);
      double known = Math.min(cpu, MOST_GROWTH * lastCpu + LITTLE_CPU * nanosPerSecond());
      lastCpu = lastCpu == 0 ? cpu : lastCpu + (known - lastCpu) * seconds / (seconds + SMOOTHED);
      leastCpu = Math.min(cpu, lastCpu);
    }
    Map<EventClass, Double> reported = new EnumMap<>(EventClass.class);
    Map<EventClass, Double> seen = new EnumMap<>(EventClass.class);
    for (EventClass events : EventClass.values()) {
      reported.put(events, perSecond(events, now.reported(), since.reported(), seconds));
      seen.put(events, perSecond(events, now.seen(), since.seen(), seconds));
    }
    return switch (budget.unit()) {
      case EVENTS -> inUnits(sum(reported), 0, seen, budget.amount());
      case BYTES -> {
        seen.replaceAll((events, each) -> each * RECORD_BYTES);
        yield inUnits(lastBytes, 0, seen, budget.amount());
      }
      case CORE, NODE -> ofTime(levels, programs, reported, seen);
    };
  }

  private void begin(Reading now) {
    before = now;
    looked = now;
  }

  private static double perSecond(
      EventClass events, Map<EventClass, Long> now, Map<EventClass, Long> since, double seconds) {
    return (now.getOrDefault(events, 0L) - since.getOrDefault(events, 0L)) / seconds;
  }

  private Load ofTime(
      DetailLevels levels,
      Programs programs,
      Map<EventClass, Double> reported,
      Map<EventClass, Double> seen) {
    Map<EventClass, Double> spent = measured(levels, programs, seen);
    double total = lastCpu + sum(spent);
    double events = Math.max(sum(reported), 1);
    for (EventClass each : EventClass.values()) {
      double reading = Math.min(lastCpu / events, READ_NANOS) * of(reported, each);
      double share = CPU_SHARES[levels.of(each).number()];
      spent.put(each, share == 0 ? 0 : (of(spent, each) + reading) / share);
    }
    return inUnits(total, lastCpu - leastCpu, spent, nanosPerSecond());
  }

  private double nanosPerSecond() {
    return nanosPerSecond(budget);
  }

  private static double nanosPerSecond(TracingBudget budget) {
    int cores =
        budget.unit() == TracingBudget.Unit.NODE ? Runtime.getRuntime().availableProcessors() : 1;
    return budget.amount() / 100 * NANOS_PER_SECOND * cores;
  }

  private Map<EventClass, Double> measured(
      DetailLevels levels, Programs programs, Map<EventClass, Double> seen) {
    Map<EventClass, Double> nanos = new EnumMap<>(EventClass.class);
    nanos.put(EventClass.SCHED, programs.nanosPerSecond(Counters.Programs.SCHED));
    double context =
        programs.nanosPerSecond(Counters.Programs.CONTEXT)
            + programs.runsPerSecond(Counters.Programs.CONTEXT) * traps.callEndNanos();
    double reporting = Math.min(context, weight(EventClass.SYSCALLS, levels, seen) * EVENT_NANOS);
    nanos.put(EventClass.SYSCALLS, reporting);
    nanos.put(
        EventClass.REQUESTS,
        context - reporting + withTraps(programs, Counters.Programs.CKP, traps.entryNanos()));
    double calls =
        withTraps(programs, Counters.Programs.CALLS, traps.entryNanos())
            + withTraps(programs, Counters.Programs.RETURNS, traps.returnNanos());
    double ofLaunches = weight(EventClass.LAUNCHES, levels, seen);
    double all = weight(EventClass.CALLS, levels, seen) + ofLaunches;
    double launches = all == 0 ? 0.5 : ofLaunches / all;
    if (levels.of(EventClass.LAUNCHES) == DetailLevel.DETACHED) {
      launches = 0;
    }
    nanos.put(EventClass.CALLS, calls * (1 - launches));
    nanos.put(EventClass.LAUNCHES, calls * launches);
    return nanos;
  }

  private static double weight(
      EventClass events, DetailLevels levels, Map<EventClass, Double> seen) {
    return of(seen, events) * CPU_SHARES[levels.of(events).number()];
  }

  private static double withTraps(Programs programs, Counters.Programs which, double trapNanos) {
    return programs.nanosPerSecond(which) + programs.runsPerSecond(which) * trapNanos;
  }

  private static Load inUnits(
      double total, double earlier, Map<EventClass, Double> classes, double unit) {
    Map<EventClass, Double> units = new EnumMap<>(EventClass.class);
    classes.forEach((events, cost) -> units.put(events, cost / unit));
    return new Load(total / unit, (total - earlier) / unit, units);
  }

  private static double of(Map<EventClass, Double> amounts, EventClass events) {
    return amounts.getOrDefault(events, 0.0);
  }

  private static double sum(Map<EventClass, Double> costs) {
    return costs.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  private Reading reading() {
    Map<EventClass, Long> reported = new EnumMap<>(EventClass.class);
    Map<EventClass, Long> seen = new EnumMap<>(EventClass.class);
    for (EventClass events : EventClass.values()) {
      long read = sources.reported().applyAsLong(events);
      reported.put(events, read);
      seen.put(events, read + sources.shed().applyAsLong(events));
    }
    return look(reported, seen);
  }

  private Reading look(Map<EventClass, Long> reported, Map<EventClass, Long> seen) {
    return new Reading(
        sources.clock().getAsLong(),
        sources.cpu().getAsLong(),
        sources.measuring().getAsLong(),
        sources.bytes().getAsLong(),
        reported,
        seen);
  }
}
