import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes the classes {@code …Attributes} and {@code …Spans} from the tables in {@code
 * src/main/catalogue}, whose README describes the format.
 */
final class Catalogue {

  private static final String HEAD =
      """
      package io.inferspan.%s;

      import io.inferspan.semconv.*;
      import io.opentelemetry.api.common.AttributeKey;
      import io.opentelemetry.api.trace.SpanKind;
      import java.util.List;

      /** %s */
      public final class %s {
      """;

  private static final String CONSTANT =
      """

        /** %s */
        public static final %s =
            %s;
      """;

  private static final String GROUP = "\n  static final List<%s> %s = List.of(%s);\n";

  /** The Java type of an attribute, and the method that creates its key, by the table's type. */
  private static final Map<String, List<String>> TYPES =
      Map.of(
          "text", List.of("String", "stringKey"),
          "count", List.of("Long", "longKey"),
          "number", List.of("Double", "doubleKey"),
          "flag", List.of("Boolean", "booleanKey"),
          "texts", List.of("List<String>", "stringArrayKey"),
          "numbers", List.of("List<Double>", "doubleArrayKey"));

  private final Path target;
  private final StringBuilder java = new StringBuilder();
  private final Map<String, String> groups = new HashMap<>();
  private final List<String> spans = new ArrayList<>();
  private String attributes = "";
  private String type = "";

  private Catalogue(Path target) {
    this.target = target;
  }

  /** Reads the tables in the first folder and writes classes below the second. */
  public static void main(String[] folders) throws IOException {
    try (Stream<Path> files = Files.list(Path.of(folders[0]))) {
      for (Path file : files.filter(file -> file.toString().endsWith(".txt")).toList()) {
        new Catalogue(Path.of(folders[1])).read(file);
      }
    }
  }

  private void read(Path table) throws IOException {
    for (String entry : Files.readString(table).split("\n(?! )")) {
      try {
        read(entry.strip().split("\n +"));
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(table + ": cannot read '" + entry + "'", e);
      }
    }
    end();
  }

  private void read(String[] lines) throws IOException {
    int from = type.endsWith("Spans") && !lines[0].startsWith("group ") ? 2 : 1;
    String listed =
        String.join(" ", List.of(lines).subList(Math.min(from, lines.length), lines.length));
    String[] described = lines[0].split(": ", 2);
    String[] words = described[0].split(" ");
    switch (words[0]) {
      case "" -> {}
      case "attributes", "spans" -> begin(words[1], described[1]);
      case "group" -> {
        groups.put(words[1], references(listed));
        java.append(GROUP.formatted("Attribute<?>", words[1], references(listed)));
      }
      default -> {
        if (from == 2) {
          span(words, lines[1], references(listed));
        } else {
          attribute(words, described[1]);
        }
      }
    }
  }

  private void begin(String name, String meaning) throws IOException {
    end();
    type = name;
    attributes = name.endsWith("Attributes") ? name : attributes;
    String pkg = name.endsWith("Spans") ? "catalog" : "semconv";
    java.append(HEAD.formatted(pkg, javadoc(meaning), name));
  }

  private void attribute(String[] words, String meaning) {
    List<String> java = TYPES.get(words[1]);
    Map<String, String> settings = settings(words);
    String latest = settings.get("latest");
    constant(
        meaning,
        "Attribute<" + java.get(0) + "> " + words[0],
        "new Attribute<>(%s, %s, %s)"
            .formatted(
                key(java.get(1), words[2]),
                latest == null ? "null" : key(java.get(1), latest),
                settings.containsKey("nonempty")));
  }

  private static String key(String method, String name) {
    return "AttributeKey." + method + "(\"" + name + "\")";
  }

  private void span(String[] words, String meaning, String attributes) {
    Map<String, String> settings = settings(words);
    String name = String.join(" ", List.of(words).subList(2 + settings.size(), words.length));
    String name09 = settings.getOrDefault("since09", name);
    String kind = settings.getOrDefault("kind", "INTERNAL");
    constant(
        meaning,
        "SpanType " + words[0],
        ("new SpanType(Component.%s, %s, List.of(\"%s\", \"%s\", \"%s\"),"
                + " List.of(SpanKind.%s, SpanKind.%s), List.of(%s))")
            .formatted(
                words[1],
                settings.get("under"),
                name,
                name09,
                settings.getOrDefault("after010", name09),
                settings.getOrDefault("proposalKind", kind),
                kind,
                attributes));
    spans.add(words[0]);
  }

  private static Map<String, String> settings(String[] words) {
    Map<String, String> settings = new HashMap<>();
    for (String word : words) {
      if (word.contains("=") || word.equals("nonempty")) {
        settings.put(word.split("=")[0], word.substring(word.indexOf('=') + 1));
      }
    }
    return settings;
  }

  private void constant(String meaning, String declaration, String value) {
    java.append(CONSTANT.formatted(javadoc(meaning), declaration, value));
  }

  private static String javadoc(String meaning) {
    return meaning.replaceAll("`([^`]+)`", "{@code $1}");
  }

  /** Qualifies names: a name without a table is a group, or an attribute of this table. */
  private String references(String names) {
    return String.join(
        ", ",
        Stream.of(names.split(" "))
            .map(
                name ->
                    name.contains(".")
                        ? name.replace(".", "Attributes.")
                        : groups.getOrDefault(name, attributes + "." + name))
            .toList());
  }

  private void end() throws IOException {
    if (type.isEmpty()) {
      return;
    }
    if (!spans.isEmpty()) {
      java.append(GROUP.formatted("SpanType", "ALL", String.join(", ", spans)));
    }
    java.append("\n  private ").append(type).append("() {}\n}\n");
    Path folder = target.resolve("io/inferspan/" + (spans.isEmpty() ? "semconv" : "catalog"));
    Path file = Files.createDirectories(folder).resolve(type + ".java");
    // An unchanged file keeps its time, so that nothing is compiled again.
    if (!Files.exists(file) || !Files.readString(file).contentEquals(java)) {
      Files.writeString(file, java);
    }
    java.setLength(0);
  }
}
