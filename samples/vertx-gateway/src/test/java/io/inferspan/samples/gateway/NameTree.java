package io.inferspan.samples.gateway;

import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import java.util.List;
import java.util.function.Predicate;

/** The names of spans as the tree that they form: two spaces a level, siblings by their start. */
final class NameTree {

  private NameTree() {}

  static String of(List<SpanRecord> spans) {
    return of(spans, span -> true);
  }

  /** Only some of the spans; what hangs below one that is left out moves up. */
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
