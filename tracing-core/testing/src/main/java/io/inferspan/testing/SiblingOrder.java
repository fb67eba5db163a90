package io.inferspan.testing;

import io.inferspan.testing.SpanTree.Node;
import io.inferspan.testing.TreePattern.Line;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * Orders the siblings of an actual tree for the comparison with an expected tree.
 *
 * <p>It pairs whole subtrees first and then single spans. So it finds a match if one exists, and
 * otherwise leaves a difference that is easy to read.
 */
final class SiblingOrder {
  private static final int NONE = -1;

  private final Map<Node, Integer> ranks = new HashMap<>();
  private final Map<Pair, Boolean> subtreeMatches = new HashMap<>();

  private SiblingOrder() {}

  /** An expected span with its descendants; equal ones stay distinct. */
  private static final class Expected {
    private final Line line;
    private final List<Expected> children = new ArrayList<>();

    Expected(Line line) {
      this.line = line;
    }
  }

  private record Pair(Expected expected, Node actual) {}

  /** Returns siblings by start time. */
  static SiblingOrder asIs() {
    return new SiblingOrder();
  }

  /** Returns siblings in the order that is most similar to the expected lines. */
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
    int[] partners = new int[expected.size()];
    Arrays.fill(partners, NONE);
    pair(expected, actual, partners, this::matchesWhole);
    pair(expected, actual, partners, SiblingOrder::matchesLine);
    boolean[] isTaken = new boolean[actual.size()];
    for (int i = 0; i < partners.length; i++) {
      if (partners[i] != NONE) {
        isTaken[partners[i]] = true;
        ranks.put(actual.get(partners[i]), i);
        arrange(expected.get(i).children, actual.get(partners[i]).children());
      }
    }
    rankTheRest(actual, partners, isTaken);
  }

  /**
   * Pairs spans without a partner with expected spans without one, and puts the last at the end.
   */
  private void rankTheRest(List<Node> actual, int[] partners, boolean[] isTaken) {
    int slot = 0;
    for (int j = 0; j < isTaken.length; j++) {
      if (!isTaken[j]) {
        while (slot < partners.length && partners[slot] != NONE) {
          slot++;
        }
        ranks.put(actual.get(j), slot++);
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
    int[] partners = new int[expected.size()];
    Arrays.fill(partners, NONE);
    pair(expected, actual, partners, this::matchesWhole);
    return Arrays.stream(partners).allMatch(partner -> partner != NONE);
  }

  private static boolean matchesLine(Expected expected, Node actual) {
    return expected.line.matches(actual.span());
  }

  /**
   * Finds partners for as many expected spans without one as possible (maximum bipartite matching:
   * a wildcard must not keep the only span that a stricter sibling could have).
   */
  private static void pair(
      List<Expected> expected,
      List<Node> actual,
      int[] partners,
      BiPredicate<Expected, Node> matches) {
    int[] owners = new int[actual.size()];
    boolean[] isFixed = new boolean[actual.size()];
    Arrays.fill(owners, NONE);
    for (int partner : partners) {
      if (partner != NONE) {
        isFixed[partner] = true;
      }
    }
    Search search = new Search(expected, actual, owners, matches);
    for (int i = 0; i < partners.length; i++) {
      if (partners[i] == NONE) {
        search.place(i, isFixed.clone());
      }
    }
    for (int j = 0; j < owners.length; j++) {
      if (owners[j] != NONE) {
        partners[owners[j]] = j;
      }
    }
  }

  /** The search for augmenting paths; {@code owners} maps actual to expected spans. */
  private static final class Search {
    private final List<Expected> expected;
    private final List<Node> actual;
    private final int[] owners;
    private final BiPredicate<Expected, Node> matches;

    Search(
        List<Expected> expected,
        List<Node> actual,
        int[] owners,
        BiPredicate<Expected, Node> matches) {
      this.expected = expected;
      this.actual = actual;
      this.owners = owners;
      this.matches = matches;
    }

    boolean place(int i, boolean[] isTried) {
      for (int j = 0; j < owners.length; j++) {
        if (!isTried[j] && matches.test(expected.get(i), actual.get(j))) {
          isTried[j] = true;
          if (owners[j] == NONE || place(owners[j], isTried)) {
            owners[j] = i;
            return true;
          }
        }
      }
      return false;
    }
  }
}
