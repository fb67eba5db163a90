package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import io.inferspan.testing.TreePattern.Line;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Compares an expected tree with the actual one, line by line. */
record TreeComparison(List<Line> expected, List<TreeComparison.Placed> actual) {
  /** A span and its depth in the tree. */
  record Placed(int depth, Node node) {}

  static TreeComparison compare(List<Line> expected, List<Node> roots, boolean ignoresOrder) {
    SiblingOrder order = ignoresOrder ? SiblingOrder.bestFor(expected, roots) : SiblingOrder.asIs();
    return new TreeComparison(expected, flatten(order, roots));
  }

  private static List<Placed> flatten(SiblingOrder order, List<Node> roots) {
    List<Placed> lines = new ArrayList<>();
    flatten(order, 0, roots, lines);
    return lines;
  }

  private static void flatten(SiblingOrder order, int depth, List<Node> nodes, List<Placed> into) {
    for (Node node : order.of(nodes)) {
      into.add(new Placed(depth, node));
      flatten(order, depth + 1, node.children(), into);
    }
  }

  boolean isMatch() {
    return firstDifference() < 0;
  }

  String expectedText() {
    return text(expected.stream().map(Line::toString).toList());
  }

  String actualText() {
    return text(actualLines());
  }

  String message() {
    int line = firstDifference();
    List<String> actualLines = actualLines();
    String wanted = line < expected.size() ? expected.get(line).toString() : "(no span)";
    String found = line < actualLines.size() ? actualLines.get(line) : "(no span)";
    return "the spans do not form the expected tree%n%nexpected:%n%s%nactual:%n%s%n"
            .formatted(expectedText(), actualText())
        + "first difference in line %d:%n  expected: %s%n  actual:   %s"
            .formatted(line + 1, wanted, found);
  }

  /** Returns the index of the first line that differs in depth or content, or -1. */
  private int firstDifference() {
    int longer = Math.max(expected.size(), actual.size());
    return IntStream.range(0, longer).filter(i -> !matches(i)).findFirst().orElse(-1);
  }

  private boolean matches(int i) {
    return i < expected.size()
        && i < actual.size()
        && expected.get(i).depth() == actual.get(i).depth
        && expected.get(i).matches(actual.get(i).node.span());
  }

  /**
   * Returns the actual spans in the notation of the test, with only the details that it compares.
   */
  private List<String> actualLines() {
    boolean showsKind = expected.stream().anyMatch(line -> line.kind() != null);
    Set<String> keys =
        expected.stream()
            .flatMap(line -> line.attributes().keySet().stream())
            .collect(Collectors.toCollection(LinkedHashSet::new));
    return actual.stream()
        .map(
            placed -> {
              SpanRecord span = placed.node.span();
              return new Line(
                      placed.depth,
                      Printable.of(span.name()),
                      showsKind ? span.kind() : null,
                      attributes(span, keys),
                      span.isError())
                  .toString();
            })
        .toList();
  }

  private static Map<String, String> attributes(SpanRecord span, Set<String> keys) {
    Map<String, String> shown = new LinkedHashMap<>();
    keys.stream()
        .filter(span.attributes()::containsKey)
        .forEach(key -> shown.put(key, Printable.of(Objects.toString(span.attribute(key)))));
    return shown;
  }

  private static String text(List<String> lines) {
    return lines.isEmpty() ? "(no spans)\n" : String.join("\n", lines) + "\n";
  }
}
