package io.inferspan.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The results, as a table in Markdown and as JSON. */
final class Report {

  /** The result of a step; ABSENT: this machine lacks something it needs. */
  enum Status {
    OK,
    FAILED,
    ABSENT
  }

  /** A step's outcome; it adds rows while it runs. */
  static final class Step {
    final String name;
    private final List<Map<String, Object>> rows = new ArrayList<>();
    private final List<String> lines = new ArrayList<>();
    Status status = Status.OK;
    String reason = "";
    double seconds;

    Step(String name) {
      this.name = name;
    }

    void row(String what, String host) {
      row(what, host, "", "");
    }

    /** Adds a duration on the device, if CUPTI or events provide one, and the published figure. */
    synchronized void row(String what, String host, String device, String published) {
      rows.add(map("what", what, "host", host, "device", device, "published", published));
      lines.add("| | %s | %s | %s | %s |".formatted(what, host, device, published));
    }

    /** Adds a row to the JSON only. */
    synchronized void detail(String what, String host) {
      rows.add(map("what", what, "host", host));
    }

    private synchronized String table() {
      String outcome = word() + (reason.isEmpty() ? "" : ": " + reason);
      return "| **%s** | %s | %.1f s | | |%n".formatted(name, outcome, seconds)
          + lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private synchronized Object fields() {
      return map("step", name, "status", word(), "reason", reason, "seconds", seconds, "rows", List.copyOf(rows));
    }

    private String word() {
      return status.name().toLowerCase(Locale.ROOT);
    }
  }

  final Map<String, String> machine = new LinkedHashMap<>();
  final List<Step> steps = new ArrayList<>();

  String table() {
    return machine.entrySet().stream()
            .map(entry -> "- " + entry.getKey() + ": " + entry.getValue() + "\n")
            .collect(Collectors.joining())
        + "\n| step | what | host | device | published |\n|---|---|---|---|---|\n"
        + steps.stream().map(Step::table).collect(Collectors.joining());
  }

  String json() {
    return json(map("machine", machine, "steps", steps.stream().map(Step::fields).toList())) + "\n";
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put(pairs[i].toString(), pairs[i + 1]);
    }
    return map;
  }

  private static String json(Object value) {
    return switch (value) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> json(entry.getKey()) + ": " + json(entry.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case List<?> list -> list.stream().map(Report::json).collect(Collectors.joining(",\n", "[", "]"));
      case Double number -> String.format(Locale.ROOT, "%.1f", number);
      default -> '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + '"';
    };
  }

  /** Formats a duration with three digits; empty if it is unknown. */
  static String nanos(double nanos) {
    String[] units = {"ns", "µs", "ms", "s"};
    int unit = 0;
    double value = nanos;
    for (; value >= 1000 && unit < 3; unit++) {
      value /= 1000;
    }
    String format = value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s";
    return nanos < 0 ? "" : String.format(Locale.ROOT, format, value, units[unit]);
  }

  /** Formats the slow-down against a base, as a factor and as a percentage. */
  static String slowdown(double base, double rate) {
    return String.format(Locale.ROOT, "%.2f× (%+.2f %%)", base / rate, 100 * (base / rate - 1));
  }
}
