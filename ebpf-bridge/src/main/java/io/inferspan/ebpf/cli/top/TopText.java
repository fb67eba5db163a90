package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Formats a page about one bridge: rates between two readings, and totals. */
final class TopText {

  /** Reasons why a request got no context. */
  private static final List<ContextCount> WITHOUT_CONTEXT =
      List.of(
          ContextCount.HTTP_MALFORMED,
          ContextCount.HTTP_TOO_LONG,
          ContextCount.HTTP_PIPELINED,
          ContextCount.HTTP_UNREADABLE,
          ContextCount.HTTP_LIMITED,
          ContextCount.THREADS_INTERLEAVED);

  private final StringBuilder text = new StringBuilder();
  private final Reading before;
  private final Reading now;

  private TopText(Reading before, Reading now) {
    this.before = before;
    this.now = now;
  }

  static String of(Reading before, Reading now) {
    TopText page = new TopText(before, now);
    page.events();
    page.losses();
    page.requests();
    page.policy();
    page.detail();
    page.programs();
    return page.text.toString();
  }

  private void events() {
    row("EVENTS", "per second", "total");
    List<Kind> seen =
        Arrays.stream(Kind.values())
            .filter(kind -> now.counters().produced(kind) > 0)
            .sorted(
                Comparator.comparingLong((Kind kind) -> now.counters().produced(kind)).reversed())
            .toList();
    seen.forEach(
        kind ->
            counts(
                KernelCounters.nameOf(kind),
                before.counters().produced(kind),
                now.counters().produced(kind)));
    counts("all", before.counters().produced(), now.counters().produced());
    text.append('\n');
  }

  private void losses() {
    row("LOST", "per second", "total");
    for (KernelLoss reason : KernelLoss.values()) {
      if (reason == KernelLoss.RING_FULL || now.counters().lost(reason) > 0) {
        counts(words(reason.word()), before.counters().lost(reason), now.counters().lost(reason));
      }
    }
    text.append(
        "  ring: %s of %s unread (%.1f %%)%n%n"
            .formatted(
                bytes(now.ring().waitingBytes()),
                bytes(now.ring().capacityBytes()),
                100.0 * now.ring().waitingBytes() / now.ring().capacityBytes()));
  }

  private void requests() {
    row("REQUESTS", "per second", "total");
    for (ContextCount what : List.of(ContextCount.REQUESTS_BEGAN, ContextCount.REQUESTS_ENDED)) {
      contexts("", what);
    }
    for (ContextCount what : WITHOUT_CONTEXT) {
      if (now.counters().count(what) > 0) {
        contexts("no context: ", what);
      }
    }
    if (now.counters().count(ContextCount.UNATTRIBUTED) > 0) {
      contexts("operations ", ContextCount.UNATTRIBUTED);
    }
    text.append('\n');
  }

  /** Prints the decisions of policies, if there were any. */
  private void policy() {
    if (Arrays.stream(PolicyCount.values()).anyMatch(what -> now.counters().count(what) > 0)) {
      row("POLICY", "per second", "total");
      for (PolicyCount what : PolicyCount.values()) {
        counts(words(what.word()), before.counters().count(what), now.counters().count(what));
      }
      text.append('\n');
    }
  }

  /** Prints the detail levels of the classes that are, or were, below full detail. */
  private void detail() {
    if (Arrays.stream(EventClass.values()).anyMatch(this::isLowered)) {
      row("NOT IN FULL DETAIL", "per second", "total");
      for (EventClass events : EventClass.values()) {
        if (isLowered(events)) {
          String name = events.word() + " (now " + now.levels().of(events).word() + ")";
          counts(name, before.counters().shed(events), now.counters().shed(events));
        }
      }
      text.append('\n');
    }
  }

  private boolean isLowered(EventClass events) {
    return now.counters().shed(events) > 0 || now.levels().of(events) != DetailLevel.FULL;
  }

  private void programs() {
    row("PROGRAMS", "runs/s", "ns/run", "% of a CPU");
    RunStats all = new RunStats(0, 0);
    for (String program : now.programs().keySet()) {
      RunStats runs = difference(now.runs(program), before.runs(program));
      all = all.plus(runs);
      cost(program, runs);
    }
    cost("all", all);
  }

  private void contexts(String prefix, ContextCount what) {
    counts(prefix + words(what.word()), before.counters().count(what), now.counters().count(what));
  }

  private void cost(String program, RunStats runs) {
    double seconds = now.secondsSince(before);
    String nanos = runs.count() == 0 ? "-" : number((double) runs.totalNanos() / runs.count());
    String share = String.format(Locale.ROOT, "%.2f", runs.totalNanos() / seconds / 1e7);
    row(program, number(runs.count() / seconds), nanos, share);
  }

  private void counts(String name, long then, long count) {
    row(name, number((count - then) / now.secondsSince(before)), number((double) count));
  }

  private void row(String name, String... values) {
    text.append("  %-42s".formatted(name));
    for (String value : values) {
      text.append(" %14s".formatted(value));
    }
    text.append('\n');
  }

  private static RunStats difference(RunStats now, RunStats before) {
    return new RunStats(
        Math.max(now.count() - before.count(), 0),
        Math.max(now.totalNanos() - before.totalNanos(), 0));
  }

  private static String words(String word) {
    return word.replace('_', ' ');
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }

  private static String bytes(long bytes) {
    return bytes < 1 << 20
        ? number(bytes / 1024.0) + " KiB"
        : String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0);
  }
}
