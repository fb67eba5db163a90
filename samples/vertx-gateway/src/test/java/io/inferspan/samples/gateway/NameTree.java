package io.inferspan.samples.gateway;

import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import java.util.List;
import java.util.function.Predicate;

/** The names of spans as a tree: two spaces per level, siblings ordered by start. */
final class NameTree {

  private NameTree() {}

  static String of(List<SpanRecord> spans) {
    return of(spans, span -> true);
  }

  /** Returns a tree of some of the spans; children of an omitted span move up. */
  static String of(List<SpanRecord> spans, Predicate<SpanRecord> shown) {
    StringBuilder text = new StringBuilder();
    SpanTree.of(spans).roots().forEach(root -> append(text, root, 0, shown));
    return text.toString();
  }

  private static void append(
      StringBuilder text, SpanTree.Node node, int level, Predicate<SpanRecord> shown) {
    boolean isShown = shown.test(node.span());
    if (isShown) {
      text.append("  ".repeat(level)).append(node.span().name()).append('\n');
    }
    int below = isShown ? level + 1 : level;
    node.children().forEach(child -> append(text, child, below, shown));
  }
}
