package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import io.inferspan.testing.TreePattern.Line;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * Orders the siblings of an actual tree for the comparison with an expected tree.
 *
 * <p>It pairs equal subtrees first and then single spans. This finds a match if one exists, and
 * otherwise an order with few differences near the root.
 */
final class SiblingOrder {
  private final Map<Node, Integer> ranks = new HashMap<>();
  private final Map<Pair, Boolean> subtreeMatches = new HashMap<>();

  private SiblingOrder() {}

  /** An expected span with its descendants, compared by identity. */
  private static final class Expected {
    private final Line line;
    private final List<Expected> children = new ArrayList<>();

    Expected(Line line) {
      this.line = line;
    }
  }

  private record Pair(Expected expected, Node actual) {}

  /** Returns the order by start time. */
  static SiblingOrder asIs() {
    return new SiblingOrder();
  }

  /** Returns the order that is most similar to the expected lines. */
  static SiblingOrder bestFor(List<Line> expected, List<Node> roots) {
    SiblingOrder order = new SiblingOrder();
    order.arrange(nest(expected), roots);
    return order;
  }

  List<Node> of(List<Node> siblings) {
    return siblings.stream().sorted(Comparator.comparing(n -> ranks.getOrDefault(n, 0))).toList();
  }

  private static List<Expected> nest(List<Line> lines) {
    List<Expected> roots = new ArrayList<>();
    Deque<Expected> path = new ArrayDeque<>();
    for (Line line : lines) {
      while (path.size() > line.depth()) {
        path.pop();
      }
      Expected expected = new Expected(line);
      (path.isEmpty() ? roots : path.element().children).add(expected);
      path.push(expected);
    }
    return roots;
  }

  private void arrange(List<Expected> expected, List<Node> actual) {
    Map<Node, Expected> partners = new HashMap<>();
    pair(expected, actual, partners, this::matchesWhole);
    pair(expected, actual, partners, SiblingOrder::matchesLine);
    partners.forEach(
        (node, line) -> {
          ranks.put(node, expected.indexOf(line));
          arrange(line.children, node.children());
        });
    // Spans without a partner fill the positions of unmatched lines, and then follow at the end.
    int slot = 0;
    for (Node node : actual) {
      if (!partners.containsKey(node)) {
        while (slot < expected.size() && partners.containsValue(expected.get(slot))) {
          slot++;
        }
        ranks.put(node, slot++);
      }
    }
  }

  private boolean matchesWhole(Expected expected, Node actual) {
    Pair pair = new Pair(expected, actual);
    Boolean known = subtreeMatches.get(pair);
    if (known == null) {
      known = matchesLine(expected, actual) && childrenMatch(expected.children, actual.children());
      subtreeMatches.put(pair, known);
    }
    return known;
  }

  private boolean childrenMatch(List<Expected> expected, List<Node> actual) {
    if (expected.size() != actual.size()) {
      return false;
    }
    Map<Node, Expected> partners = new HashMap<>();
    pair(expected, actual, partners, this::matchesWhole);
    return partners.size() == actual.size();
  }

  private static boolean matchesLine(Expected expected, Node actual) {
    return expected.line.matches(actual.span());
  }

  /**
   * Pairs as many lines and spans as possible (maximum bipartite matching), so that a wildcard does
   * not take the only span that matches a stricter sibling.
   */
  private static void pair(
      List<Expected> expected,
      List<Node> actual,
      Map<Node, Expected> partners,
      BiPredicate<Expected, Node> matches) {
    List<Node> free = actual.stream().filter(node -> !partners.containsKey(node)).toList();
    Set<Expected> placed = Set.copyOf(partners.values());
    for (Expected line : expected) {
      if (!placed.contains(line)) {
        place(line, free, new HashSet<>(free), partners, matches);
      }
    }
  }

  /** Pairs a line with an untried span; a line that loses its span is paired with another one. */
  private static boolean place(
      Expected line,
      List<Node> free,
      Set<Node> untried,
      Map<Node, Expected> partners,
      BiPredicate<Expected, Node> matches) {
    for (Node node : free) {
      if (untried.contains(node) && matches.test(line, node)) {
        untried.remove(node);
        Expected partner = partners.get(node);
        if (partner == null || place(partner, free, untried, partners, matches)) {
          partners.put(node, line);
          return true;
        }
      }
    }
    return false;
  }
}
