package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.desk.otlp.StoredSpan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The spans of a trace as a tree.
 *
 * <p>If a span arrived twice, the later one counts. A span whose parent is missing is an orphan; so
 * is the first span of a cycle.
 */
public final class TraceTree {

  /** The span kinds SERVER and CONSUMER in OTLP. */
  private static final int SERVER = 2;

  private static final int CONSUMER = 5;

  private final List<Node> ordered = new ArrayList<>();
  private final @Nullable Node root;
  private final List<Node> orphans = new ArrayList<>();
  private final long startNanos;
  private final long endNanos;

  private TraceTree(List<StoredSpan> spans) {
    Map<Long, Node> nodes = new LinkedHashMap<>();
    for (StoredSpan span : spans) {
      nodes.put(span.id(), new Node(span));
    }
    List<Node> tops = tops(nodes);
    tops.sort(Node.BY_START);
    nodes.values().forEach(node -> node.children().sort(Node.BY_START));
    root = root(tops);
    if (root != null) {
      root.setOrphan(false);
      walk(root);
    }
    tops.stream().filter(top -> !top.equals(root)).forEach(this::walk);
    breakCycles(nodes);
    ordered.stream().filter(Node::isOrphan).forEach(orphans::add);
    startNanos = ordered.stream().mapToLong(node -> node.span().startNanos()).min().orElse(0);
    endNanos = ordered.stream().mapToLong(node -> node.span().endNanos()).max().orElse(0);
  }

  /** Builds the tree from spans in any order. */
  public static TraceTree of(List<StoredSpan> spans) {
    return new TraceTree(spans);
  }

  private static List<Node> tops(Map<Long, Node> nodes) {
    List<Node> tops = new ArrayList<>();
    for (Node node : nodes.values()) {
      Node parent = node.span().isRoot() ? null : nodes.get(node.span().parentId());
      if (parent == null || parent.equals(node)) {
        node.setOrphan(!node.span().isRoot());
        tops.add(node);
      } else {
        parent.adopt(node);
      }
    }
    return tops;
  }

  /**
   * Returns the root of the request. If a client started the trace but does not export its spans to
   * the desk, this is the gateway's span or else the first server or consumer span of other
   * instrumentation.
   */
  private static @Nullable Node root(List<Node> tops) {
    Comparator<Node> best =
        Comparator.comparing((Node node) -> node.type() != GatewaySpans.REQUEST)
            .thenComparing(Node.BY_START);
    Node real = tops.stream().filter(node -> node.span().isRoot()).min(best).orElse(null);
    return real != null ? real : tops.stream().filter(TraceTree::isEntry).min(best).orElse(null);
  }

  private static boolean isEntry(Node node) {
    int kind = node.span().mark().kind();
    return node.type() == GatewaySpans.REQUEST
        || ((kind == SERVER || kind == CONSUMER) && isForeign(node));
  }

  /** Returns whether the span is from other instrumentation. */
  private static boolean isForeign(Node node) {
    return node.type() == null;
  }

  private void walk(Node top) {
    Deque<Node> open = new ArrayDeque<>();
    open.push(top);
    while (!open.isEmpty()) {
      Node node = open.pop();
      ordered.add(node);
      for (int i = node.children().size() - 1; i >= 0; i--) {
        open.push(node.children().get(i));
      }
    }
  }

  /** Breaks each cycle of parents at its first span. */
  private void breakCycles(Map<Long, Node> nodes) {
    if (ordered.size() == nodes.size()) {
      return;
    }
    Map<Long, Node> rest = new HashMap<>(nodes);
    ordered.forEach(node -> rest.remove(node.span().id()));
    for (Node node : nodes.values()) {
      if (rest.containsKey(node.span().id())) {
        Node parent = node.parent();
        if (parent != null) {
          parent.children().remove(node);
        }
        node.setOrphan(true);
        int before = ordered.size();
        walk(node);
        ordered.subList(before, ordered.size()).forEach(seen -> rest.remove(seen.span().id()));
      }
    }
  }

  /** Returns the spans: parents before children, siblings by start time, orphans last. */
  public List<Node> ordered() {
    return ordered;
  }

  /** Returns the root span of the request, or null if it has not arrived. */
  public @Nullable Node root() {
    return root;
  }

  /** Returns the root or, if there is none, the first span. */
  Node top() {
    return root == null ? ordered.stream().min(Node.BY_START).orElseThrow() : root;
  }

  /** Returns the spans whose parent is missing. */
  List<Node> orphans() {
    return orphans;
  }

  /** Returns the start of the first span. */
  public long startNanos() {
    return startNanos;
  }

  /** Returns the end of the last span. */
  public long endNanos() {
    return endNanos;
  }

  /** Converts a time to milliseconds since the start of the trace. */
  public double atMillis(long nanos) {
    return (nanos - startNanos) / 1e6;
  }
}
