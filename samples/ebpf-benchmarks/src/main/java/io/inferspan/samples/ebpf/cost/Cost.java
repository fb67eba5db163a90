package io.inferspan.samples.ebpf.cost;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Measures all costs, or only the given parts; exits with status 1 if a figure misses its bar
 * (performance goal).
 */
public final class Cost {

  private static final List<String> PARTS =
      List.of("call", "rate", "server", "engine", "launches", "idle", "record", "budget");
  private static final int KIT_ARGUMENTS = 2;

  private Cost() {}

  /**
   * Runs the measurements. The arguments are the directory of the built test kit, the path of its
   * {@code server.py}, and then {@code --quick} and the parts, in any order.
   */
  public static void main(String[] arguments) throws IOException {
    Set<String> wanted = Set.copyOf(List.of(arguments).subList(KIT_ARGUMENTS, arguments.length));
    boolean quick = wanted.contains("--quick");
    if (!wanted.stream().allMatch(one -> one.equals("--quick") || PARTS.contains(one))) {
      System.err.println(
          "usage: cost <test kit> <server.py> [--quick] [" + String.join("] [", PARTS) + "]");
      System.exit(2);
    }
    boolean all = PARTS.stream().noneMatch(wanted::contains);
    Kit kit = new Kit(Path.of(arguments[0]), Path.of(arguments[1]));
    Report report = new Report();
    report.say("system load before: %s", Files.readString(Path.of("/proc/loadavg")).strip());
    for (String part : PARTS) {
      if (all || wanted.contains(part)) {
        measure(part, kit, quick, report);
      }
    }
    System.exit(report.conclude() ? 0 : 1);
  }

  private static void measure(String part, Kit kit, boolean quick, Report report) {
    switch (part) {
      case "call" -> new CallCost(kit, quick ? 0.5 : 1).measure(quick ? 3 : 9, report);
      case "rate" -> new EventRate(kit).measure(quick ? 3 : 12, report);
      case "server" -> {
        for (ServerCost.Served request : ServerCost.Served.values()) {
          new ServerCost(kit, request, 1).measure(quick ? 5 : 20, report);
        }
      }
      case "engine" -> new EngineCost(kit, quick).measure(quick ? 3 : 9, report);
      case "launches" -> new LaunchCost(kit).measure(quick ? 3 : 9, report);
      case "record" -> new RecordCost(kit, quick ? 2 : 5).measure(quick ? 4 : 10, report);
      case "budget" -> new BudgetCost(kit).measure(quick ? 2 : 5, report);
      default -> new IdleCost().measure(quick ? 5 : 20, report);
    }
  }
}
