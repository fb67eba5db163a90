import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares the sidecar with its peers, scenario by scenario, and checks the bars (performance goals), which are limits for ratios of their figures. */
final class Bench {
  private Bench() {}

  public static void main(String[] arguments) throws IOException {
    List<String> wanted = new ArrayList<>(Arrays.asList(arguments));
    boolean quick = wanted.remove("--quick");
    boolean onlyVerify = wanted.remove("--verify");
    String known = Scenario.ALL.stream().map(Scenario::name).collect(Collectors.joining(" "));
    for (String name : wanted) {
      if (Scenario.ALL.stream().noneMatch(scenario -> scenario.name().equals(name))) {
        System.err.println("Unknown scenario " + name + "; known scenarios: " + known + ".");
        System.exit(2);
      }
    }
    System.exit(run(wanted, quick, onlyVerify));
  }

  private static int run(List<String> wanted, boolean quick, boolean onlyVerify)
      throws IOException {
    Stream.of(Peer.values())
        .map(Peer::missing)
        .distinct()
        .filter(why -> why != null)
        .forEach(System.err::println);
    try (Workbench bench = new Workbench()) {
      Upstream upstream = Upstream.start(bench, 1);
      if (onlyVerify) {
        verify(bench, upstream);
        return 0;
      }
      List<Report> reports = new ArrayList<>();
      for (Scenario scenario : Scenario.ALL) {
        if (wanted.isEmpty() || wanted.contains(scenario.name())) {
          Report report = new Run(bench, upstream, scenario, quick).measure();
          report.print();
          reports.add(report);
        }
      }
      System.out.println();
      return reports.stream().filter(report -> !report.judge()).count() == 0 ? 0 : 1;
    } catch (InvalidRunException trouble) {
      System.err.println(trouble.getMessage());
      return 1;
    }
  }

  private static void verify(Workbench bench, Upstream upstream) throws IOException {
    for (Peer peer : Peer.values()) {
      boolean disaggregates = peer != Peer.NGINX && peer != Peer.HAPROXY;
      if (disaggregates && peer.missing() == null) {
        try (Server server = peer.start(bench, upstream)) {
          Verification.of(server, upstream);
          System.out.println("ok      " + peer.label + " follows the nixlv2 protocol");
        }
      }
    }
  }
}
