package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.otlp.StoredSpan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A span in the tree of its trace. */
public final class Node {

  static final Comparator<Node> BY_START =
      Comparator.comparingLong((Node node) -> node.span().startNanos())
          .thenComparingLong(node -> node.span().id());

  private final StoredSpan span;
  private final @Nullable SpanType type;
  private final List<Node> children = new ArrayList<>(2);
  private @Nullable Node parent;
  private boolean orphan;
  private @Nullable SpanDetail detail;

  Node(StoredSpan span) {
    this.span = span;
    this.type = SpanTypes.of(span);
  }

  /** Returns the span. */
  public StoredSpan span() {
    return span;
  }

  /** Returns the span's type in the catalogue, or null. */
  @Nullable SpanType type() {
    return type;
  }

  /** Returns attributes, events and links, which are decoded once. */
  public SpanDetail detail() {
    SpanDetail known = detail;
    if (known == null) {
      known = span.detail();
      detail = known;
    }
    return known;
  }

  @Nullable Node parent() {
    return parent;
  }

  List<Node> children() {
    return children;
  }

  void adopt(Node child) {
    child.parent = this;
    children.add(child);
  }

  void setOrphan(boolean isOrphan) {
    orphan = isOrphan;
  }

  /** Returns whether the span's parent is missing. */
  public boolean isOrphan() {
    return orphan;
  }

  /** Returns the nearest ancestor of one of these types, or null. */
  @Nullable Node above(SpanType... types) {
    Node node = parent;
    while (node != null && !Arrays.asList(types).contains(node.type)) {
      node = node.parent;
    }
    return node;
  }

  /**
   * Returns the part of the span's time that no child covers. Spans of the eBPF bridge do not count
   * as children. Children may overlap and end after the span.
   */
  long selfNanos() {
    long end = span.endNanos();
    long covered = span.startNanos();
    long self = 0;
    for (Node child : children) {
      if (SpanTypes.isKernel(child.type)) {
        continue;
      }
      self += Math.max(0, Math.min(end, child.span.startNanos()) - covered);
      covered = Math.max(covered, child.span.endNanos());
    }
    return self + Math.max(0, end - covered);
  }
}
