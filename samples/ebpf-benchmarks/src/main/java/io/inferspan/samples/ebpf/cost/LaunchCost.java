package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.LaunchDetail;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * Measures the cost of probes on kernel launches, at each {@link io.inferspan.ebpf.LaunchDetail}.
 * One thread launches 50,000 kernels per second, in engine steps of 250 launches. The calls that
 * mark the start and end of a step, and the wait for the stream at its end, also have probes.
 */
final class LaunchCost {

  private static final int PER_SECOND = 50_000;
  private static final int PER_STEP = 250;
  private static final double SECONDS = 2;
  private static final double NANOS_PER_PERCENT = 1e7;

  /** The bars in % of a core. */
  private static final Map<LaunchDetail, Double> BARS =
      new EnumMap<>(Map.of(LaunchDetail.COUNTED, 6.0, LaunchDetail.DETACHED, 1.0));

  private final Kit kit;

  LaunchCost(Kit kit) {
    this.kit = kit;
  }

  void measure(int rounds, Report report) {
    Map<LaunchDetail, Samples> costs = new EnumMap<>(LaunchDetail.class);
    Samples nothing = new Samples();
    Process keeper = kit.keeper();
    try {
      for (int round = 0; round < rounds; round++) {
        nothing.add(percent());
        for (LaunchDetail detail : LaunchDetail.values()) {
          try (Bridge _ = attach(BridgeConfig.builder(), detail)) {
            costs.computeIfAbsent(detail, any -> new Samples()).add(percent());
          }
        }
      }
      report.say("%n%d launches/s, %d steps/s", PER_SECOND, PER_SECOND / PER_STEP);
      report.say("%-28s     median        min        max   ns/launch", "% of a core");
      say("unwatched", nothing, report);
      costs.forEach((detail, samples) -> say(label(detail), samples, report));
      programs(report);
    } finally {
      Kit.end(keeper);
    }
    BARS.forEach(
        (detail, bar) ->
            report.atMost(
                "50,000 launches/s, %s, %% of a core".formatted(label(detail)),
                median(costs, detail),
                bar));
  }

  private static double median(Map<LaunchDetail, Samples> costs, LaunchDetail detail) {
    return costs.getOrDefault(detail, new Samples()).median();
  }

  private static String label(LaunchDetail detail) {
    return "launches:" + detail.name().toLowerCase(Locale.ROOT);
  }

  private static void say(String what, Samples percent, Report report) {
    double nanos = percent.median() * NANOS_PER_PERCENT / PER_SECOND;
    report.say("%-28s %s %11.0f", what, percent, nanos);
  }

  private double percent() {
    return 100 * kit.stepsInTurns(SECONDS, PER_SECOND, PER_STEP).watched();
  }

  private static Bridge attach(BridgeConfig.Builder builder, LaunchDetail detail) {
    return Bridge.attach(
        builder.sleepAfter(Duration.ZERO).launches(detail), "libcuda.so.1", "load");
  }

  /**
   * Prints the run time of the BPF programs for library calls and engine steps. The kernel measures
   * it, without the uprobe's trap.
   */
  private void programs(Report report) {
    for (LaunchDetail detail : LaunchDetail.values()) {
      try (Bridge bridge = attach(BridgeConfig.builder().measuresPrograms(true), detail)) {
        double ignored = percent();
        for (BridgeStatus.Program program : bridge.status().programs()) {
          if (program.runs() > 0 && program.name().matches("c(all|kp)_.*")) {
            report.say(
                "%-28s %-20s %10d runs %6d ns",
                label(detail), program.name(), program.runs(), program.runNanos() / program.runs());
          }
        }
      }
    }
  }
}
