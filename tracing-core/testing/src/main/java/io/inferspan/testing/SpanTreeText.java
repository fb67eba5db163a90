package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import io.inferspan.testing.SpanTree.Options;
import io.inferspan.testing.SpanTree.Place;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Renders trees with box-drawing characters. */
final class SpanTreeText {
  /** Deeper spans are omitted, because each level makes the lines below it longer. */
  static final int MAX_DEPTH = 100;

  private static final int ATTRIBUTE_LINE_CHARS = 96;
  private static final int SIGNIFICANT_DIGITS = 4;
  private static final int VALUE_CHARS = 200;

  // Copied from the span catalogue, because this module does not depend on it.
  private static final String FOLDED = " (folded)";
  private static final String COUNT = "inferspan.ebpf.count";
  private static final String DURATION_SUM_NS = "inferspan.ebpf.duration.sum_ns";

  private final Options options;
  private final StringBuilder out = new StringBuilder();

  SpanTreeText(Options options) {
    this.options = options;
  }

  String render(List<Node> roots) {
    for (Node root : roots) {
      out.append(headline(root, "")).append('\n');
      below(root, "", 1);
    }
    return out.toString();
  }

  /** Appends the attributes and the descendants of a node. */
  private void below(Node node, String indent, int depth) {
    List<Node> children = node.children();
    String attributeIndent = indent + (children.isEmpty() ? "    " : "│   ");
    for (String line : attributeLines(node.span())) {
      out.append(attributeIndent).append(line).append('\n');
    }
    if (depth > MAX_DEPTH && !children.isEmpty()) {
      out.append(indent).append("└── … deeper spans are not shown\n");
      return;
    }
    for (int i = 0; i < children.size(); i++) {
      boolean isLast = i == children.size() - 1;
      Node child = children.get(i);
      String headline = headline(child, node.span().serviceName());
      out.append(indent).append(isLast ? "└── " : "├── ").append(headline).append('\n');
      below(child, indent + (isLast ? "    " : "│   "), depth + 1);
    }
  }

  private String headline(Node node, String parentService) {
    SpanRecord span = node.span();
    StringBuilder line = new StringBuilder(options.showsTimes() ? timed(span) : cut(span.name()));
    if (!span.serviceName().equals(parentService)) {
      line.append(" [").append(cut(span.serviceName())).append(']');
    }
    if (span.isError()) {
      line.append(
          span.statusDescription().isEmpty() ? " ✗" : " ✗ " + cut(span.statusDescription()));
    }
    return line.append(remark(node.place())).toString();
  }

  /** Returns name and duration; for a folded span, the time in its calls, without gaps. */
  private static String timed(SpanRecord span) {
    String name = cut(span.name());
    if (span.attribute(COUNT) instanceof Number count
        && span.attribute(DURATION_SUM_NS) instanceof Number sum) {
      String call = name.replace(FOLDED, "");
      return "%s ×%s, Σ %s ms".formatted(call, count, millis(sum.longValue()));
    }
    return "%s (%s ms)".formatted(name, millis(span.duration().toNanos()));
  }

  private static String remark(Place place) {
    return switch (place) {
      case ROOT, CHILD -> "";
      case PARENT_NOT_RECEIVED -> " (parent not received)";
      case PARENT_CYCLE -> " (its own ancestor)";
    };
  }

  /** Formats milliseconds with more decimal places for small values. */
  static String millis(long nanos) {
    double millis = nanos / 1e6;
    double size = Math.abs(millis);
    String format = size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f";
    return String.format(Locale.ROOT, format, millis);
  }

  private List<String> attributeLines(SpanRecord span) {
    Map<String, Integer> uses = new HashMap<>();
    span.attributes().keySet().forEach(key -> uses.merge(lastSegment(key), 1, Integer::sum));
    List<String> lines = new ArrayList<>();
    span.attributes()
        .forEach(
            (key, value) -> {
              if (options.attributes().test(key)) {
                String last = lastSegment(key);
                boolean isClear = uses.getOrDefault(last, 0) == 1 && !last.isEmpty();
                append(lines, cut(isClear ? last : key) + "=" + cut(shown(value)));
              }
            });
    return lines;
  }

  /** Returns a fraction rounded to four significant digits, and other values unchanged. */
  private static String shown(Object value) {
    if (!(value instanceof Double number) || !Double.isFinite(number)) {
      return String.valueOf(value);
    }
    BigDecimal exact = BigDecimal.valueOf(number);
    int digits = Math.max(SIGNIFICANT_DIGITS, exact.precision() - exact.scale());
    BigDecimal rounded = exact.round(new MathContext(digits)).stripTrailingZeros();
    return rounded.scale() < 0 ? rounded.setScale(0).toPlainString() : rounded.toPlainString();
  }

  private static void append(List<String> lines, String attribute) {
    int end = lines.size() - 1;
    if (end >= 0 && lines.get(end).length() + attribute.length() < ATTRIBUTE_LINE_CHARS) {
      lines.set(end, lines.get(end) + ", " + attribute);
    } else {
      lines.add(attribute);
    }
  }

  private static String lastSegment(String key) {
    return key.substring(key.lastIndexOf('.') + 1);
  }

  private static String cut(String text) {
    return Printable.of(text, VALUE_CHARS);
  }
}
