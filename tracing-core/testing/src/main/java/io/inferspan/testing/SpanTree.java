package io.inferspan.testing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Trees of spans, to traverse or to print on a terminal.
 *
 * <pre>
 * gateway.request (2150.3 ms) [llm-gateway]
 * ├── llm_d.epp.scorer.prefix_cache (12.1 ms)
 * │   └── llm_d.kv_cache.get_scores (10.0 ms)
 * └── llm_d.pd_proxy.request (2105.0 ms) [llm-d-pd-proxy] ✗ error description
 *     │   true_ttft_ms=55.2, total_duration_ms=2105.0
 *     └── llm_d.pd_proxy.prefill (55.0 ms)
 * </pre>
 *
 * <p>Any list of spans is accepted. A span whose parent is not in the list becomes a root and is
 * marked. If spans form a cycle, the first of them becomes a root. Roots and siblings are sorted by
 * start time.
 */
public final class SpanTree {
  private static final Comparator<Node> BY_TIME =
      Comparator.comparingLong((Node node) -> node.span.startEpochNanos())
          .thenComparing(node -> node.span.endEpochNanos(), Comparator.reverseOrder());

  private final List<Node> roots;

  private SpanTree(List<Node> roots) {
    this.roots = roots;
  }

  /** Returns the trees of all given spans, of one trace or of many. */
  public static SpanTree of(List<SpanRecord> spans) {
    return new SpanTree(link(spans));
  }

  /** Returns the tree of the given spans that belong to one trace. */
  public static SpanTree ofTrace(List<SpanRecord> spans, String traceId) {
    return of(spans.stream().filter(span -> span.traceId().equals(traceId)).toList());
  }

  /** The position of a span relative to the other spans of its tree. */
  public enum Place {
    /** It has no parent. */
    ROOT,
    /** It is below its parent. */
    CHILD,
    /** Its parent is not among the spans. */
    PARENT_NOT_RECEIVED,
    /** It is its own ancestor, and becomes a root so that the cycle is shown. */
    PARENT_CYCLE
  }

  /** A span and its descendants. */
  public static final class Node {
    private final SpanRecord span;
    private final List<Node> children = new ArrayList<>();
    private @Nullable Node parent;
    private Place place = Place.ROOT;

    private Node(SpanRecord span) {
      this.span = span;
    }

    /** Returns the span itself. */
    public SpanRecord span() {
      return span;
    }

    /** Returns the child spans, by start time. */
    public List<Node> children() {
      return Collections.unmodifiableList(children);
    }

    /** Returns the reason for the span's position. */
    public Place place() {
      return place;
    }
  }

  /**
   * Options for rendering a tree.
   *
   * @param attributes selects attributes by their full key
   * @param showsTimes whether durations are shown
   */
  public record Options(Predicate<String> attributes, boolean showsTimes) {
    /** Durations and no attributes. */
    public static final Options DEFAULT = new Options(key -> false, true);

    /** Returns the same options with the attributes that {@code keys} selects. */
    public Options withAttributes(Predicate<String> keys) {
      return new Options(keys, showsTimes);
    }

    /** Returns the same options without durations, for output that must not vary between runs. */
    public Options withoutTimes() {
      return new Options(attributes, false);
    }
  }

  /** Returns the spans without a parent in the list, by start time. */
  public List<Node> roots() {
    return roots;
  }

  /** Returns the trees as text, with durations and without attributes. */
  public String render() {
    return render(Options.DEFAULT);
  }

  /** Returns the trees as text that is safe to print; each line ends with a newline. */
  public String render(Options options) {
    return new SpanTreeText(options).render(roots);
  }

  private record Id(String traceId, String spanId) {}

  private static List<Node> link(List<SpanRecord> spans) {
    List<Node> nodes = spans.stream().map(Node::new).sorted(BY_TIME).toList();
    Map<Id, Node> byId = new HashMap<>();
    // A span that was received twice appears twice, with its children below the first copy.
    nodes.forEach(node -> byId.putIfAbsent(id(node, node.span.spanId()), node));
    List<Node> roots = new ArrayList<>();
    for (Node node : nodes) {
      node.parent = node.span.isRoot() ? null : byId.get(id(node, node.span.parentSpanId()));
      if (node.parent != null) {
        node.place = Place.CHILD;
        node.parent.children.add(node);
      } else {
        node.place = node.span.isRoot() ? Place.ROOT : Place.PARENT_NOT_RECEIVED;
        roots.add(node);
      }
    }
    breakCycles(nodes, roots);
    roots.sort(BY_TIME);
    return Collections.unmodifiableList(roots);
  }

  private static Id id(Node node, String spanId) {
    return new Id(node.span.traceId(), spanId);
  }

  /** Makes one span of each cycle a root, because cycles are not below any root. */
  private static void breakCycles(List<Node> nodes, List<Node> roots) {
    Set<Node> reached = new HashSet<>();
    roots.forEach(root -> reach(root, reached));
    for (Node node : nodes) {
      if (!reached.contains(node)) {
        Node first = firstOfCycleAbove(node);
        if (first.parent != null) {
          first.parent.children.remove(first);
        }
        first.parent = null;
        first.place = Place.PARENT_CYCLE;
        roots.add(first);
        reach(first, reached);
      }
    }
  }

  /** Returns the first span of the cycle that contains the given span or one of its ancestors. */
  private static Node firstOfCycleAbove(Node start) {
    Set<Node> path = new LinkedHashSet<>();
    Node node = start;
    while (node.parent != null && path.add(node)) {
      node = node.parent;
    }
    Node meeting = node;
    return path.stream().dropWhile(n -> n != meeting).min(BY_TIME).orElse(meeting);
  }

  private static void reach(Node root, Set<Node> reached) {
    Deque<Node> open = new ArrayDeque<>();
    open.push(root);
    while (!open.isEmpty()) {
      Node node = open.pop();
      if (reached.add(node)) {
        open.addAll(node.children);
      }
    }
  }
}
