package io.inferspan.ebpf.live;

import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.KernelSide;
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
 * Computes what tracing cost in a period, in units of the budget, and divides it among the classes.
 *
 * <p>What the programs of system calls need to recognise requests is taken to be the class's, until
 * that is detached.
 */
final class CostMeter {

  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  /** What each level leaves of the CPU time in full, roughly: it is measured again afterwards. */
  private static final double[] CPU_SHARES = {1, 0.6, 0.5, 0.45, 0};

  /** What each level leaves of the events that are reported. */
  private static final double[] EVENT_SHARES = {1, 1.0 / 16, 0, 0, 0};

  /** The trap of a probe, as measured on a thread without a request; a call has one at each end. */
  private static final long TRAP_NANOS = 1_000;

  /** An event in the programs, where the kernel does not let us measure them. */
  private static final long UNMEASURED_NANOS = 500;

  /**
   * The most that waking for an event and reading it takes; what the reader uses beyond is of no
   * class.
   */
  private static final long READ_NANOS = 20_000;

  private final TracingBudget budget;
  private final Sources sources;
  private Reading before;

  /**
   * Where costs are read, all counted since the start.
   *
   * @param clock the time
   * @param cpu the CPU time of those who read the events
   * @param reported the events of a class that were read
   * @param shed those that were folded or counted instead
   */
  record Sources(
      LongSupplier clock,
      LongSupplier cpu,
      ToLongFunction<EventClass> reported,
      ToLongFunction<EventClass> shed) {}

  /**
   * What the programs of each object did in some time.
   *
   * @param nanos how long; zero if they cannot be measured
   */
  record Programs(long nanos, Map<String, RunStats> runs) {

    static final Programs UNMEASURED = new Programs(0, Map.of());

    Programs {
      runs = Map.copyOf(runs);
    }

    private double nanosPerSecond(String object) {
      return runs.getOrDefault(object, new RunStats(0, 0)).totalNanos() * perSecond();
    }

    private double runsPerSecond(String object) {
      return runs.getOrDefault(object, new RunStats(0, 0)).count() * perSecond();
    }

    private double perSecond() {
      return NANOS_PER_SECOND / nanos;
    }
  }

  private record Reading(
      long nanos, long cpu, Map<EventClass, Double> reported, Map<EventClass, Double> shed) {}

  CostMeter(TracingBudget budget, Sources sources) {
    this.budget = budget;
    this.sources = sources;
    this.before = reading();
  }

  /** What each level costs, in units of the cost in full. */
  double[] shares() {
    return (budget.unit() == TracingBudget.Unit.EVENTS ? EVENT_SHARES : CPU_SHARES).clone();
  }

  /** Returns the cost since this was called last. */
  Load period(DetailLevels levels, Programs programs) {
    Reading now = reading();
    Reading last = before;
    before = now;
    double seconds = Math.max(now.nanos() - last.nanos(), 1) / NANOS_PER_SECOND;
    Map<EventClass, Double> reported = new EnumMap<>(EventClass.class);
    Map<EventClass, Double> seen = new EnumMap<>(EventClass.class);
    for (EventClass events : EventClass.values()) {
      double read = of(now.reported(), events) - of(last.reported(), events);
      double shed = of(now.shed(), events) - of(last.shed(), events);
      reported.put(events, read / seconds);
      seen.put(events, (read + shed) / seconds);
    }
    if (budget.unit() == TracingBudget.Unit.EVENTS) {
      return inUnits(sum(reported), seen, budget.amount());
    }
    double cpu = (now.cpu() - last.cpu()) / seconds;
    Map<EventClass, Double> spent =
        programs.nanos() == 0 ? guessed(seen) : measured(levels, programs, seen);
    double others = programs.nanos() == 0 ? 0 : unshared(levels, programs);
    double total = cpu + sum(spent) + others;
    double events = Math.max(sum(reported), 1);
    for (EventClass each : EventClass.values()) {
      double reading = Math.min(cpu / events, READ_NANOS) * of(reported, each);
      double share = CPU_SHARES[levels.of(each).number()];
      spent.put(each, share == 0 ? 0 : (of(spent, each) + reading) / share);
    }
    return inUnits(total, spent, nanosPerSecond());
  }

  private double nanosPerSecond() {
    int cores =
        budget.unit() == TracingBudget.Unit.NODE ? Runtime.getRuntime().availableProcessors() : 1;
    return budget.amount() / 100 * NANOS_PER_SECOND * cores;
  }

  private static Map<EventClass, Double> guessed(Map<EventClass, Double> seen) {
    Map<EventClass, Double> nanos = new EnumMap<>(EventClass.class);
    seen.forEach(
        (events, each) -> {
          boolean probes = events == EventClass.CALLS || events == EventClass.LAUNCHES;
          nanos.put(events, each * (UNMEASURED_NANOS + (probes ? 2 * TRAP_NANOS : 0)));
        });
    return nanos;
  }

  private static Map<EventClass, Double> measured(
      DetailLevels levels, Programs programs, Map<EventClass, Double> seen) {
    Map<EventClass, Double> nanos = new EnumMap<>(EventClass.class);
    nanos.put(EventClass.SCHED, programs.nanosPerSecond("sched") + programs.nanosPerSecond("tcp"));
    nanos.put(
        EventClass.SYSCALLS,
        isOff(levels, EventClass.SYSCALLS) ? 0 : programs.nanosPerSecond(KernelSide.CONTEXT));
    double calls =
        programs.nanosPerSecond(KernelSide.CALLS)
            + programs.runsPerSecond(KernelSide.CALLS) * TRAP_NANOS;
    double all = of(seen, EventClass.CALLS) + of(seen, EventClass.LAUNCHES);
    double launches = all == 0 ? 0.5 : of(seen, EventClass.LAUNCHES) / all;
    nanos.put(EventClass.CALLS, calls * (1 - launches));
    nanos.put(EventClass.LAUNCHES, calls * launches);
    return nanos;
  }

  private static double unshared(DetailLevels levels, Programs programs) {
    double nanos = 0;
    for (String object : programs.runs().keySet()) {
      boolean shared =
          switch (object) {
            case "sched", "tcp", KernelSide.CALLS -> true;
            case KernelSide.CONTEXT -> !isOff(levels, EventClass.SYSCALLS);
            default -> false;
          };
      nanos += shared ? 0 : programs.nanosPerSecond(object);
    }
    return nanos;
  }

  private static boolean isOff(DetailLevels levels, EventClass events) {
    return levels.of(events) == DetailLevel.DETACHED;
  }

  private static Load inUnits(double total, Map<EventClass, Double> classes, double unit) {
    Map<EventClass, Double> units = new EnumMap<>(EventClass.class);
    classes.forEach((events, cost) -> units.put(events, cost / unit));
    return new Load(total / unit, units);
  }

  private static double of(Map<EventClass, Double> amounts, EventClass events) {
    return amounts.getOrDefault(events, 0.0);
  }

  private static double sum(Map<EventClass, Double> costs) {
    return costs.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  private Reading reading() {
    Map<EventClass, Double> reported = new EnumMap<>(EventClass.class);
    Map<EventClass, Double> shed = new EnumMap<>(EventClass.class);
    for (EventClass events : EventClass.values()) {
      reported.put(events, (double) sources.reported().applyAsLong(events));
      shed.put(events, (double) sources.shed().applyAsLong(events));
    }
    return new Reading(sources.clock().getAsLong(), sources.cpu().getAsLong(), reported, shed);
  }
}
