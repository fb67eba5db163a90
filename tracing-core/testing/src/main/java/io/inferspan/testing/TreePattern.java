package io.inferspan.testing;

import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parses an expected tree: lines of {@code name [KIND] {key=value} ERROR}, indented by two spaces
 * per level.
 */
final class TreePattern {
  private static final String ANY = "*";
  private static final String ERROR_MARK = " ERROR";

  private static final Pattern LINE =
      Pattern.compile(
          "(?<name>.+?)(?: +\\[(?<kind>[^\\]]*)])?(?: +\\{(?<attributes>.*)})?(?<error> +ERROR)?");

  /** The text up to a comma that is outside quotes and brackets. */
  private static final Pattern PAIR = Pattern.compile("(?:\"[^\"]*\"|\\[[^\\]]*]|[^,])+");

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
    Matcher parts = LINE.matcher(text);
    if (!parts.matches() || parts.group("name").contains(" {")) {
      throw malformed(text, "close the attributes with } before anything but ERROR");
    }
    String kind = parts.group("kind");
    String attributes = parts.group("attributes");
    return new Line(
        depth,
        parts.group("name"),
        kind == null ? null : kind(text, kind),
        attributes == null ? Map.of() : parseAttributes(text, attributes),
        parts.group("error") != null);
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
    for (MatchResult found : PAIR.matcher(inside).results().toList()) {
      String pair = found.group().strip();
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw malformed(text, "write attributes as key=value, not " + pair);
      }
      attributes.put(pair.substring(0, equals).strip(), unquoted(pair.substring(equals + 1)));
    }
    return attributes;
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
