package io.inferspan.samples.ebpf.cost;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Measures whether the cost of tracing stays within a budget when the load grows tenfold and falls
 * again.
 *
 * <p>The cost is the sum of two parts. The first is the CPU time of the agent's process. The second
 * is the slowdown of the load generator, which reads the clock in a loop between its calls. It
 * calls the watched library and an unwatched copy in turns of ten milliseconds. The slowdown is the
 * decrease in clock readings per second of CPU time during the turns of the watched library. Other
 * processes on the core hardly affect either part.
 */
final class BudgetCost {

  private static final List<Double> BUDGETS = List.of(0.5, 1.0, 5.0);
  private static final int PER_SECOND = 1_000;
  private static final double SECONDS = 2;

  /**
   * The rounds before those that are measured, in which the JVM compiles the agent's code: an agent
   * runs for weeks, so its first minutes do not count.
   */
  private static final int WARM_UP = 6;

  /** The seconds after a change of the load within which the cost must be within the budget. */
  private static final double SETTLING = 2;

  /** The seconds within which detail that fits must be raised: it is measured once a second. */
  private static final double RAISING = 1.5;

  /** The maximum cost, relative to the budget. */
  private static final double BAR = 1.2;

  /** The metric with the level of detail of an event class. */
  private static final Pattern LEVEL =
      Pattern.compile("inferspan_ebpf_level\\{.*class=\"(\\w+)\".*} ([0-9.]+)");

  /**
   * The metric with the estimated cost of tracing an event class at its next higher level of
   * detail, relative to the budget.
   */
  private static final Pattern NEXT =
      Pattern.compile("inferspan_ebpf_level_next_cost\\{.*class=\"(\\w+)\".*} ([0-9.]+)");

  /** The level of full detail. */
  private static final double FULL = 4;

  /** A level of detail fits if its cost is at most this share of the budget, in the agent too. */
  private static final double FITS = 0.9;

  private final Kit kit;

  BudgetCost(Kit kit) {
    this.kit = kit;
  }

  void measure(int rounds, Report report) {
    report.say(
        "%n%% of a core: total (median, quartiles), then medians of load, bridge and JVM; event"
            + " classes below full detail: level (cost at the next level, relative to the budget)");
    Process keeper = kit.keeper();
    try {
      BUDGETS.forEach(budget -> measure(budget, rounds, report));
    } finally {
      Kit.end(keeper);
    }
  }

  /** The phases of the load. */
  private enum Phase {
    USUAL("usual load", 1),
    TENFOLD("tenfold load", 10),
    AGAIN("usual load again", 1);

    private final String label;
    private final int times;

    Phase(String label, int times) {
      this.label = label;
      this.times = times;
    }
  }

  /** The measured costs of a phase, in percent of a core. */
  private static final class Costs {
    private final Samples all = new Samples();
    private final Samples load = new Samples();
    private final Samples bridge = new Samples();
    private final Samples compilerAndCollector = new Samples();
    private final TreeSet<String> lowered = new TreeSet<>();
    private int missing;
  }

  /**
   * An event class that is traced below full detail.
   *
   * @param next the cost of tracing the class at its next higher level, relative to the budget
   */
  private record Lowered(String events, double level, double next) {

    /** Returns whether the next level has fitted since an earlier reading of the levels. */
    private boolean isMissing(List<Lowered> before) {
      return fits()
          && before.stream()
              .anyMatch(each -> each.events.equals(events) && each.level == level && each.fits());
    }

    private boolean fits() {
      return next > 0 && next <= FITS;
    }

    @Override
    public String toString() {
      return "%s:%.0f (%.2f)".formatted(events, level, next);
    }
  }

  private void measure(double budget, int rounds, Report report) {
    Map<Phase, Costs> costs = new EnumMap<>(Phase.class);
    int port = freePort();
    Process agent = kit.agent(budget, port);
    try {
      for (int i = -WARM_UP; i < rounds; i++) {
        for (Phase phase : Phase.values()) {
          Costs cost = i < 0 ? new Costs() : costs.computeIfAbsent(phase, any -> new Costs());
          Kit.Load _ = kit.launchInTurns(SETTLING, phase.times * PER_SECOND);
          measure(agent.pid(), phase, cost, port);
        }
      }
    } finally {
      Kit.end(agent);
    }
    costs.forEach((phase, cost) -> say(budget, phase, cost, report));
  }

  private void measure(long agent, Phase phase, Costs cost, int port) {
    long bridge = Kit.cpuNanos(agent, BudgetCost::isOfBridge);
    long all = Kit.cpuNanos(agent);
    long start = System.nanoTime();
    double load = 100 * kit.launchInTurns(SECONDS, phase.times * PER_SECOND).watched();
    double percent = 100.0 / (System.nanoTime() - start);
    double ours = percent * (Kit.cpuNanos(agent, BudgetCost::isOfBridge) - bridge);
    double total = percent * (Kit.cpuNanos(agent) - all);
    cost.load.add(load);
    cost.bridge.add(ours);
    cost.compilerAndCollector.add(total - ours);
    cost.all.add(load + total);
    List<Lowered> before = lowered(port);
    Kit.Load _ = kit.launchInTurns(RAISING, phase.times * PER_SECOND);
    List<Lowered> lowered = lowered(port);
    lowered.forEach(each -> cost.lowered.add(each.toString()));
    cost.missing += (int) lowered.stream().filter(each -> each.isMissing(before)).count();
  }

  private static boolean isOfBridge(String thread) {
    return thread.startsWith("inferspan-ebpf");
  }

  private static void say(double budget, Phase phase, Costs cost, Report report) {
    String name = "%.1f %%, %s".formatted(budget, phase.label);
    report.say(
        "%-26s %s  %6.2f %6.2f %6.2f  %s",
        name,
        cost.all.middle(),
        cost.load.median(),
        cost.bridge.median(),
        cost.compilerAndCollector.median(),
        cost.lowered.isEmpty() ? "nothing" : cost.lowered);
    report.atMost(name + ", % of a core", cost.all.median(), BAR * budget);
    report.atMost(name + ", classes whose next level fits", cost.missing, 0);
  }

  /** Returns the event classes that are currently below full detail. */
  private static List<Lowered> lowered(int port) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/metrics")).build();
    List<Lowered> lowered = new ArrayList<>();
    try (HttpClient client = HttpClient.newHttpClient()) {
      String metrics = client.send(request, BodyHandlers.ofString()).body();
      Map<String, String> next =
          NEXT.matcher(metrics)
              .results()
              .collect(Collectors.toMap(cost -> cost.group(1), cost -> cost.group(2)));
      Matcher level = LEVEL.matcher(metrics);
      while (level.find()) {
        double detail = Double.parseDouble(level.group(2));
        if (detail < FULL) {
          double cost = Double.parseDouble(next.getOrDefault(level.group(1), "0"));
          lowered.add(new Lowered(level.group(1), detail, cost));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return lowered;
  }

  private static int freePort() {
    try (ServerSocket any = new ServerSocket(0)) {
      return any.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
