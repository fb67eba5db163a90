package io.inferspan.ebpf.flame;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Stacks merged by common prefix, with the count that ends in each frame. */
final class FlameTree {

  private final Node root = new Node("all");

  /** A frame, with the counts of the stacks that end in it. */
  static final class Node {

    final String name;
    final Map<String, Node> children = new TreeMap<>();
    long self;
    long selfBefore;

    Node(String name) {
      this.name = name;
    }
  }

  /** Visits one frame after the other, a parent before its children. */
  interface Visitor {
    void frame(Node node, int depth);
  }

  /** Returns the tree of one profile. */
  static FlameTree of(StackCounts counts) {
    FlameTree tree = new FlameTree();
    counts.sorted().forEach((stack, count) -> tree.leaf(stack).self += count);
    return tree;
  }

  /** Returns the tree of two profiles. */
  static FlameTree difference(StackCounts before, StackCounts after) {
    FlameTree tree = of(after);
    before.sorted().forEach((stack, count) -> tree.leaf(stack).selfBefore += count);
    return tree;
  }

  private Node leaf(String stack) {
    Node node = root;
    for (int begin = 0; begin <= stack.length(); ) {
      int end = stack.indexOf(';', begin);
      end = end < 0 ? stack.length() : end;
      if (end > begin) {
        node = node.children.computeIfAbsent(stack.substring(begin, end), Node::new);
      }
      begin = end + 1;
    }
    return node;
  }

  /** Visits all frames without recursion, because profiles may be deep. */
  void forEach(Visitor visitor) {
    record Visit(Node node, int depth) {}
    List<Visit> open = new ArrayList<>(List.of(new Visit(root, 0)));
    while (!open.isEmpty()) {
      Visit next = open.removeLast();
      visitor.frame(next.node(), next.depth());
      for (Node child : List.copyOf(next.node().children.values()).reversed()) {
        open.add(new Visit(child, next.depth() + 1));
      }
    }
  }

  /** Numbers names in the order of their first use. */
  static final class NameTable {

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    int number(String name) {
      return numbers.computeIfAbsent(
          name,
          added -> {
            names.add(added);
            return names.size() - 1;
          });
    }

    List<String> names() {
      return names;
    }
  }
}
