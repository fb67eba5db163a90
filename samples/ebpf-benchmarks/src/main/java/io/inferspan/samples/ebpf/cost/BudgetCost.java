package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.TracingBudget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Measures whether a budget holds when the load grows tenfold and falls again.
 *
 * <p>The cost is the CPU time of this process, as the kernel accounts it, and what a second of CPU
 * time of the load is worth less with the bridge than without it, in turns: how often the load can
 * look at the clock besides its calls. Other processes on the core change neither much.
 */
final class BudgetCost {

  private static final List<Double> BUDGETS = List.of(0.5, 1.0, 5.0);
  private static final int PER_SECOND = 1_000;
  private static final double SECONDS = 1;

  /** Until the code of the bridge is compiled. */
  private static final double WARM_UP = 40;

  /** In which the budget must be held after a change of the load. */
  private static final double SETTLING = 2;

  private static final double BAR = 1.2;

  private final Kit kit;
  private final Map<String, Samples> overhead = new LinkedHashMap<>();
  private final Map<String, TreeSet<String>> lowered = new LinkedHashMap<>();

  BudgetCost(Kit kit) {
    this.kit = kit;
  }

  void measure(int rounds, Report report) {
    Process keeper = kit.keeper();
    try {
      BUDGETS.forEach(budget -> measure(budget, rounds));
    } finally {
      Kit.end(keeper);
    }
    report.say(
        "%n%% of a core that tracing takes      median   middle half: from, to   not in full");
    overhead.forEach(
        (name, percent) ->
            report.say(
                "%-34s %s   %s",
                name, percent.middle(), lowered.getOrDefault(name, new TreeSet<>())));
    for (double budget : BUDGETS) {
      for (Phase phase : Phase.values()) {
        Samples percent = Objects.requireNonNull(overhead.get(phase.name(budget)));
        report.atMost(phase.name(budget) + ", % of a core", percent.median(), BAR * budget);
      }
    }
  }

  /** The load as it changes. */
  private enum Phase {
    USUAL("usual load", 1),
    TENFOLD("tenfold load", 10),
    AGAIN("usual load again", 1);

    private final String words;
    private final int times;

    Phase(String words, int times) {
      this.words = words;
      this.times = times;
    }

    private String name(double budget) {
      return "%.1f %%, %s".formatted(budget, words);
    }
  }

  /** Measures the cost of a bridge while the load changes several times. */
  private void measure(double budget, int rounds) {
    Map<Integer, Samples> without = new TreeMap<>();
    without(without, rounds);
    List<Turn> turns = new ArrayList<>();
    try (Bridge bridge =
        Bridge.attach(new TracingBudget(budget, TracingBudget.Unit.CORE), "libcuda.so.1", "load")) {
      Kit.Load _ = kit.launchPaced(WARM_UP, PER_SECOND);
      for (int i = 0; i < rounds; i++) {
        for (Phase phase : Phase.values()) {
          Kit.Load _ = kit.launchPaced(SETTLING, phase.times * PER_SECOND);
          turns.add(turn(phase));
          lowered
              .computeIfAbsent(phase.name(budget), any -> new TreeSet<>())
              .add(bridge.lowered().isEmpty() ? "nothing" : bridge.lowered());
        }
      }
    }
    without(without, rounds);
    for (Turn turn : turns) {
      double usual = Objects.requireNonNull(without.get(turn.phase.times)).median();
      overhead
          .computeIfAbsent(turn.phase.name(budget), any -> new Samples())
          .add(100 * (1 - turn.looks / usual + turn.ours));
    }
  }

  private void without(Map<Integer, Samples> looks, int rounds) {
    for (int i = 0; i < rounds; i++) {
      for (int times : List.of(1, 10)) {
        looks.computeIfAbsent(times, any -> new Samples()).add(looks(times * PER_SECOND));
      }
    }
  }

  /**
   * The work of the load per second of its CPU time, and the share of a core that the bridge used.
   */
  private record Turn(Phase phase, double looks, double ours) {}

  private Turn turn(Phase phase) {
    long cpu = Kit.cpuNanos(ProcessHandle.current().pid());
    long start = System.nanoTime();
    double looks = looks(phase.times * PER_SECOND);
    double used = Kit.cpuNanos(ProcessHandle.current().pid()) - cpu;
    return new Turn(phase, looks, used / (System.nanoTime() - start));
  }

  /** Returns how often the load reads the clock per second of its CPU time. */
  private double looks(int perSecond) {
    Kit.Load load = kit.launchPaced(SECONDS, perSecond);
    return 1e9 * load.looks() / (load.nanosPerCall() * load.calls());
  }
}
