import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Measures the sample gateway without tracing, with Inferspan and with other libraries, and checks the bars. */
final class GatewayBench {
  private GatewayBench() {}

  public static void main(String[] arguments) throws IOException {
    List<String> wanted = new ArrayList<>(Arrays.asList(arguments));
    boolean quick = wanted.remove("--quick");
    List<Subject> subjects = List.of(Subject.values());
    for (var part : Subject.PARTS.entrySet()) {
      subjects = wanted.remove(part.getKey()) ? part.getValue() : subjects;
    }
    String known = Case.ALL.stream().map(Case::name).collect(Collectors.joining(" "));
    for (String name : wanted) {
      if (Case.ALL.stream().noneMatch(each -> each.name().equals(name))) {
        System.err.println("Unknown scenario " + name + "; known scenarios: " + known + ".");
        System.exit(2);
      }
    }
    System.exit(run(wanted, subjects, quick));
  }

  private static int run(List<String> wanted, List<Subject> subjects, boolean quick)
      throws IOException {
    try (Workbench bench = new Workbench();
        Gateways gateways = Gateways.start(bench, Upstream.start(bench, 1), subjects)) {
      List<Turns> measured = new ArrayList<>();
      for (Case each : Case.ALL) {
        if (wanted.isEmpty() || wanted.contains(each.name())) {
          Turns turns = new Turns(gateways, each, subjects, quick);
          turns.measure();
          turns.print();
          measured.add(turns);
        }
      }
      System.out.println();
      return measured.stream().filter(turns -> !turns.judge()).count() == 0 ? 0 : 1;
    } catch (InvalidRunException invalid) {
      System.err.println(invalid.getMessage());
      return 1;
    }
  }
}
