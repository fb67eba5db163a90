package io.inferspan.samples.ebpf.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints figures as they are measured, and the bars (performance goals) at the end. */
final class Report {

  private final List<String> bars = new ArrayList<>();
  private boolean missed;

  /** Prints a line. */
  void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format + "%n", values);
  }

  /** Adds a bar that must not be exceeded. */
  void atMost(String what, double measured, double bar) {
    bar(what, measured, "<=", bar, measured <= bar);
  }

  /** Adds a bar that must be reached. */
  void atLeast(String what, double measured, double bar) {
    bar(what, measured, ">=", bar, measured >= bar);
  }

  private void bar(String what, double measured, String relation, double bar, boolean met) {
    missed |= !met;
    bars.add(
        String.format(
            Locale.ROOT,
            "%-58s %12.5g  %s %-10.5g %s",
            what,
            measured,
            relation,
            bar,
            met ? "ok" : "MISS"));
  }

  /** Prints the bars; returns whether no bar was missed. */
  boolean conclude() {
    say("%n%-58s %12s  bar", "", "measured");
    bars.forEach(line -> say("%s", line));
    return !missed;
  }
}
