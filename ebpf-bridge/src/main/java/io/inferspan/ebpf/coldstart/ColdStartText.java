package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.ColdStart.Explained;
import io.inferspan.ebpf.coldstart.ColdStart.ThreadClass;
import io.inferspan.ebpf.coldstart.PhaseTimeline.Interval;
import java.util.Formatter;
import java.util.Locale;
import java.util.Map;

/** Formats the phases and gaps of a start as tables. */
public final class ColdStartText {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double PERCENT = 100;

  private final ColdStart start;
  private final PhaseTimeline phases;
  private final Formatter text = new Formatter(Locale.ROOT);

  private ColdStartText(ColdStart start) {
    this.start = start;
    this.phases = start.phases();
  }

  /** Returns the tables. */
  public static String of(ColdStart start) {
    ColdStartText text = new ColdStartText(start);
    text.summary();
    text.phases();
    text.threads();
    text.intervals();
    return text.text.toString();
  }

  private void summary() {
    text.format("%s", start.title());
    if (start.outcome().listenNanos() > 0) {
      text.format(", first listening at %.3f s", since(start.outcome().listenNanos()));
    }
    text.format("; %,d events lost%n%n", start.outcome().lost());
  }

  private void phases() {
    text.format(
        "  %-16s %9s %9s %9s %7s %10s%n",
        "PHASE", "FIRST s", "LAST s", "OWN s", "SHARE", "EVIDENCE");
    phases
        .phases()
        .forEach(
            (phase, sum) ->
                text.format(
                    "  %-16s %9.3f %9.3f %9.3f %6.1f%% %,10d%n",
                    phase.word(),
                    since(sum.startNanos()),
                    since(sum.endNanos()),
                    sum.nanos() / NANOS_PER_SECOND,
                    share(sum.nanos()),
                    sum.evidence()));
    for (Interval gap : phases.gaps()) {
      text.format(
          "  %-16s %9.3f %9.3f %9.3f %6.1f%%   %s%n",
          "gap",
          since(gap.startNanos()),
          since(gap.endNanos()),
          gap.nanos() / NANOS_PER_SECOND,
          share(gap.nanos()),
          start.explained(gap).text());
    }
    text.format(
        "  %-16s %9.3f %9.3f %9.3f %6.1f%%%n%n",
        "all", 0.0, since(phases.endNanos()), phases.wallNanos() / NANOS_PER_SECOND, PERCENT);
  }

  private void intervals() {
    text.format("  LONG INTERVALS%n  %9s %9s%n", "START s", "LENGTH s");
    for (Explained interval : start.intervals()) {
      long nanos = interval.endNanos() - interval.startNanos();
      text.format(
          "  %9.3f %9.3f  %s%n",
          since(interval.startNanos()), nanos / NANOS_PER_SECOND, interval.text());
    }
    text.format("%n");
  }

  private void threads() {
    text.format("  %-26s  ALL s", "THREADS");
    for (ThreadState state : ThreadState.values()) {
      text.format("  %s", state.word());
    }
    text.format("%n");
    int brief = 0;
    for (ThreadTimeline thread : start.mainThreads()) {
      if (thread.nanos() < phases.longNanos()) {
        brief++;
        continue;
      }
      row("process " + thread.id().pid(), thread.states(phases.startNanos(), phases.endNanos()));
      for (ThreadClass each : start.classes(thread.id().pid())) {
        row("  %d %s".formatted(each.threads(), each.name()), each.states());
      }
    }
    if (brief > 0) {
      text.format("  and %d processes that lasted less than 2 %% of the wall time%n", brief);
    }
    text.format("%n");
  }

  private void row(String name, Map<ThreadState, Long> states) {
    long all = states.values().stream().mapToLong(Long::longValue).sum();
    text.format("  %-24.24s %8.3f", name, all / NANOS_PER_SECOND);
    for (ThreadState state : ThreadState.values()) {
      text.format(
          " %" + (state.word().length() + 1) + ".3f",
          states.getOrDefault(state, 0L) / NANOS_PER_SECOND);
    }
    text.format("%n");
  }

  private double since(long nanos) {
    return (nanos - phases.startNanos()) / NANOS_PER_SECOND;
  }

  private double share(long nanos) {
    return phases.wallNanos() == 0 ? 0 : PERCENT * nanos / phases.wallNanos();
  }
}
