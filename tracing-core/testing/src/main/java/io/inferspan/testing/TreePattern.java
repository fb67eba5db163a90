package io.inferspan.testing;

import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parses an expected tree: lines of {@code name [KIND] {key=value} ERROR}, indented by two spaces
 * per level.
 */
final class TreePattern {
  private static final String ANY = "*";
  private static final String ERROR_MARK = " ERROR";

  private TreePattern() {}

  /** One expected span; omitted parts ({@code null}, no attributes) are not compared. */
  record Line(
      int depth,
      String name,
      @Nullable SpanKind kind,
      Map<String, String> attributes,
      boolean isError) {

    boolean matches(SpanRecord span) {
      return (name.equals(ANY) || name.equals(Printable.of(span.name())))
          && (kind == null || kind == span.kind())
          && isError == span.isError()
          && attributes.entrySet().stream().allMatch(wanted -> matches(wanted, span));
    }

    private static boolean matches(Map.Entry<String, String> wanted, SpanRecord span) {
      Object value = span.attribute(wanted.getKey());
      return value != null
          && (wanted.getValue().equals(ANY)
              || wanted.getValue().equals(Printable.of(value.toString())));
    }

    @Override
    public String toString() {
      String written =
          attributes.entrySet().stream()
              .map(attribute -> attribute.getKey() + "=" + quoted(attribute.getValue()))
              .collect(Collectors.joining(", "));
      return "  ".repeat(depth)
          + name
          + (kind == null ? "" : " [" + kind + "]")
          + (written.isEmpty() ? "" : " {" + written + "}")
          + (isError ? ERROR_MARK : "");
    }
  }

  /** Parses a tree; ignores blank lines and common indentation. */
  static List<Line> parse(String tree) {
    List<String> texts =
        tree.stripIndent().lines().map(String::stripTrailing).filter(s -> !s.isEmpty()).toList();
    List<Line> lines = new ArrayList<>();
    for (String text : texts) {
      int spaces = text.length() - text.stripLeading().length();
      int deepest = lines.isEmpty() ? 0 : lines.get(lines.size() - 1).depth() + 1;
      if (spaces % 2 != 0 || spaces / 2 > deepest || text.charAt(0) == '\t') {
        throw malformed(text, "indent by two spaces, at most one level deeper than the line above");
      }
      lines.add(parseLine(spaces / 2, text.strip()));
    }
    return List.copyOf(lines);
  }

  private static Line parseLine(int depth, String text) {
    String rest = text;
    boolean isError = rest.endsWith(ERROR_MARK);
    if (isError) {
      rest = rest.substring(0, rest.length() - ERROR_MARK.length()).stripTrailing();
    }
    Map<String, String> attributes = Map.of();
    int brace = rest.indexOf(" {");
    if (brace > 0) {
      if (!rest.endsWith("}")) {
        throw malformed(text, "close the attributes with } before anything but ERROR");
      }
      attributes = parseAttributes(text, rest.substring(brace + 2, rest.length() - 1));
      rest = rest.substring(0, brace).stripTrailing();
    }
    int bracket = rest.endsWith("]") ? rest.lastIndexOf(" [") : -1;
    SpanKind kind = null;
    if (bracket > 0) {
      kind = kind(text, rest.substring(bracket + 2, rest.length() - 1));
      rest = rest.substring(0, bracket).stripTrailing();
    }
    return new Line(depth, rest, kind, attributes, isError);
  }

  private static SpanKind kind(String text, String name) {
    for (SpanKind kind : SpanKind.values()) {
      if (kind.name().equals(name)) {
        return kind;
      }
    }
    throw malformed(text, "[" + name + "] is not one of " + Arrays.toString(SpanKind.values()));
  }

  private static Map<String, String> parseAttributes(String text, String inside) {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (String pair : split(inside)) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw malformed(text, "write attributes as key=value, not " + pair);
      }
      attributes.put(pair.substring(0, equals).strip(), unquoted(pair.substring(equals + 1)));
    }
    return attributes;
  }

  /** Splits at commas that are outside quotes and brackets. */
  private static List<String> split(String inside) {
    List<String> pairs = new ArrayList<>();
    StringBuilder pair = new StringBuilder();
    boolean isQuoted = false;
    int brackets = 0;
    for (int i = 0; i < inside.length(); i++) {
      char c = inside.charAt(i);
      isQuoted ^= c == '"';
      if (!isQuoted) {
        brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
      }
      if (c == ',' && !isQuoted && brackets == 0) {
        pairs.add(pair.toString().strip());
        pair.setLength(0);
      } else {
        pair.append(c);
      }
    }
    pairs.add(pair.toString().strip());
    return pairs;
  }

  private static String unquoted(String value) {
    String bare = value.strip();
    boolean isQuoted = bare.length() >= 2 && bare.startsWith("\"") && bare.endsWith("\"");
    return isQuoted ? bare.substring(1, bare.length() - 1) : bare;
  }

  static String quoted(String value) {
    boolean isBare =
        !value.isEmpty()
            && value.equals(value.strip())
            && (!value.contains(",") || value.startsWith("["))
            && !value.contains("\"");
    return isBare ? value : '"' + value + '"';
  }

  private static IllegalArgumentException malformed(String line, String advice) {
    return new IllegalArgumentException(
        "cannot read the expected tree at \"" + line.strip() + "\": " + advice);
  }
}
