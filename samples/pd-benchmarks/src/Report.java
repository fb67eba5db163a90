import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints a scenario's measurements, and checks its bars. */
record Report(Scenario scenario, Map<Scenario.Subject, Figures> figures, Figures direct) {
  void print() {
    Scenario.Pace pace = scenario.pace();
    System.out.printf(
        "%n%s: %s (%d connections)%n", scenario.name(), scenario.sentence(), pace.connections());
    if (pace.isOpenLoop()) {
      System.out.printf(
          "  %-30s %9s %9s %9s   direct: p50 %.0f, p99 %.0f%n",
          "",
          "p50 +µs",
          "p99 +µs",
          "CPU µs",
          Figures.median(direct.p50()),
          Figures.median(direct.p99()));
    } else {
      System.out.printf("  %-30s %9s   %-17s %s%n", "", "CPU µs", "least – most", "×");
    }
    figures.forEach(pace.isOpenLoop() ? this::printLatency : this::printCpu);
  }

  private void printLatency(Scenario.Subject subject, Figures measured) {
    double p50 = Figures.median(measured.p50()) - Figures.median(direct.p50());
    System.out.printf(
        "  %-30s %9.0f %9.0f %9.1f%n",
        subject.label(), p50, added99(measured), Figures.median(measured.cpu()));
  }

  private void printCpu(Scenario.Subject subject, Figures measured) {
    List<Double> cpu = measured.cpu();
    StringBuilder ratios = new StringBuilder();
    for (Map.Entry<Scenario.Subject, Figures> other : figures.entrySet()) {
      Peer peer = other.getKey().peer();
      if (!peer.isJvm() || scenario.subjects().get(0).peer() == peer) {
        double ratio = Figures.median(cpu) / Figures.median(other.getValue().cpu());
        ratios.append(String.format(Locale.ROOT, "%.2f %s  ", ratio, other.getKey().label()));
      }
    }
    String spread = String.format("%.1f – %.1f", Figures.least(cpu), Figures.most(cpu));
    System.out.printf(
        "  %-30s %9.1f   %-17s %s%n", subject.label(), Figures.median(cpu), spread, ratios);
  }

  private double added99(Figures measured) {
    return Figures.median(measured.p99()) - Figures.median(direct.p99());
  }

  /** Prints a line per bar; returns whether no bar was missed. A bar whose peer is missing is not checked.
   */
  boolean judge() {
    boolean held = true;
    for (Scenario.Bar bar : scenario.bars()) {
      Figures subject = figures.get(bar.subject());
      Figures against = figures.get(bar.against());
      String promise =
          bar.subject().label() + " at most " + bar.most() + " × " + bar.against().label();
      if (subject == null || against == null) {
        System.out.printf(
            "–       %-11s %s: not checked, because a server is missing%n", scenario.name(), promise);
        continue;
      }
      double ratio = figure(subject) / figure(against);
      boolean ok = figure(subject) <= figure(against) * bar.most();
      System.out.printf(
          "%-7s %-11s %s: %.2f%n", ok ? "ok" : "MISSED", scenario.name(), promise, ratio);
      held &= ok;
    }
    return held;
  }

  private double figure(Figures measured) {
    return scenario.pace().isOpenLoop() ? added99(measured) : Figures.median(measured.cpu());
  }
}
