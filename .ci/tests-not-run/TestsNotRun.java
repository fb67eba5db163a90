import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Lists the tests that did not run, with the reason and the command to run them, and the tests that
 * passed only when repeated: {@code TestsNotRun ROOT [--fail] [--except=REASON]}.
 *
 * <p>It reads the XML reports of Surefire and Failsafe below ROOT. The message of an assumption must be
 * "reason: command". A class {@code …IT} without a report runs only with {@code -Pfull}. With {@code
 * --fail}, the exit status is 1 if a test did not run for another reason than REASON.
 */
final class TestsNotRun {

  private static final String EVERYTHING = "./check";

  private record Cause(String module, String reason, String command) implements Comparable<Cause> {
    static Cause of(String module, String message) {
      String text = message.replaceFirst("^(\\S+Exception: )?(Assumption failed: )?", "").strip();
      int end = text.indexOf(": ");
      return end < 0
          ? new Cause(module, text, EVERYTHING)
          : new Cause(module, text.substring(0, end), text.substring(end + 2));
    }

    @Override
    public int compareTo(Cause other) {
      return (module + reason + command).compareTo(other.module + other.reason + other.command);
    }
  }

  private final Path root;
  private final Map<Cause, Integer> counts = new TreeMap<>();
  private final List<String> unstable = new ArrayList<>();

  private TestsNotRun(Path root) {
    this.root = root;
  }

  public static void main(String[] arguments) throws Exception {
    TestsNotRun report = new TestsNotRun(Path.of(arguments[0]).toAbsolutePath().normalize());
    report.read();
    report.print();
    List<String> options = List.of(arguments);
    if (options.contains("--fail")
        && report.counts.keySet().stream().anyMatch(c -> !options.contains("--except=" + c.reason))) {
      System.exit(1);
    }
  }

  private void read() throws Exception {
    List<String> reports = new ArrayList<>();
    List<Path> its = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String path = root.relativize(file).toString();
        if (path.matches(".*target/(surefire|failsafe)-reports[^/]*/TEST-.*\\.xml")) {
          reports.add(file.getFileName().toString());
          readReport(path.substring(0, path.indexOf("/target/")), file);
        } else if (path.matches(".*src/test/java/.*IT\\.java")) {
          its.add(file);
        }
      }
    }
    for (Path it : its) {
      String name = it.getFileName().toString().replace(".java", ".xml");
      if (reports.stream().noneMatch(report -> report.endsWith("." + name))) {
        String module = root.relativize(it).toString().replaceFirst("/src/test/.*", "");
        String reason = "class starts real processes, servers or a browser";
        counts.merge(new Cause(module, reason, "mvn verify -Pfull"), 1, Integer::sum);
      }
    }
  }

  private void readReport(String module, Path report) throws Exception {
    var builder = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
    Document document = builder.parse(report.toFile());
    for (Element skipped : elements(document, "skipped")) {
      String message = skipped.getAttribute("message");
      String reason = message.isEmpty() ? firstLine(skipped) : message;
      counts.merge(Cause.of(module, reason), 1, Integer::sum);
    }
    for (String kind : List.of("flakyFailure", "flakyError")) {
      for (Element failure : elements(document, kind)) {
        Element test = (Element) failure.getParentNode();
        String name = test.getAttribute("classname") + "." + test.getAttribute("name");
        unstable.add(name + ": " + firstLine(failure));
      }
    }
  }

  private static List<Element> elements(Document document, String name) {
    NodeList nodes = document.getElementsByTagName(name);
    return IntStream.range(0, nodes.getLength()).mapToObj(i -> (Element) nodes.item(i)).toList();
  }

  private static String firstLine(Element element) {
    return element.getTextContent().strip().split("\n")[0];
  }

  private void print() {
    if (!unstable.isEmpty()) {
      System.out.println("\nUnstable tests, which failed and then passed when repeated; find the cause:");
      unstable.forEach(test -> System.out.println("  " + test));
    }
    if (counts.isEmpty()) {
      System.out.println("All tests ran.");
      return;
    }
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"tests", "module", "not run because", "to run them"});
    counts.forEach(
        (cause, count) ->
            rows.add(new String[] {"" + count, cause.module, cause.reason, cause.command}));
    int[] widths = new int[4];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    System.out.println("\nTests that did not run (" + EVERYTHING + " installs what is missing and runs all):");
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        line.append("  ").append(row[i]).append(" ".repeat(widths[i] - row[i].length()));
      }
      System.out.println(line.toString().stripTrailing());
    }
  }
}
