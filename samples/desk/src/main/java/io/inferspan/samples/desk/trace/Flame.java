package io.inferspan.samples.desk.trace;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A frame of the request's flame graph, and what is inside it.
 *
 * <p>Of stacks, frames are functions. Of spans, which report calls and no stacks, a span of the
 * request is the base of its calls by family, call and detail; widths are times in calls.
 */
public final class Flame {

  private static final int MAX_CHILDREN = 500;

  /** Of the families of kernel spans, those that have to do with the device. */
  private static final List<String> OF_DEVICE = List.of("cuda", "nccl");

  private final String name;
  private final Kind kind;
  private final Map<String, Flame> children = new LinkedHashMap<>();
  private long own;

  /** What a frame is, by which the page colours it. */
  public enum Kind {
    /** The program's own code, or a span. */
    CPU,
    /** The kernel's code, or calls of it. */
    KERNEL,
    /** Work of the device, or calls for it. */
    GPU,
    /** Neither: where a stack is cut, or where the CPU's part ends. */
    NONE;

    /** As the page names it. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Of a function, as a recorded stack marks it. */
    static Kind ofFunction(String name) {
      if (name.endsWith("_[G]") || name.endsWith("_[g]")) {
        return GPU;
      }
      return name.endsWith("_[k]") ? KERNEL : name.equals("-") || name.startsWith("[") ? NONE : CPU;
    }

    private static Kind ofFamily(String family) {
      return OF_DEVICE.contains(family) ? GPU : family.equals("ckp") ? CPU : KERNEL;
    }
  }

  Flame(String name, Kind kind) {
    this.name = name;
    this.kind = kind;
  }

  /** Null if the trace has no kernel spans. */
  static @Nullable Flame read(TraceTree tree) {
    Flame flame = new Flame(ShortText.of(tree.top().span().name(), 120), Kind.CPU);
    Map<Flame, KernelTime> grounds = new LinkedHashMap<>();
    for (Node node : tree.ordered()) {
      if (SpanTypes.isKernel(node.type()) && !SpanTypes.isPhase(node.type())) {
        Node above = node.parent();
        while (above != null && SpanTypes.isKernel(above.type())) {
          above = above.parent();
        }
        Flame ground =
            above == null ? flame : flame.child(ShortText.of(above.span().name(), 120), Kind.CPU);
        grounds
            .computeIfAbsent(ground, key -> new KernelTime())
            .add(node, above == null ? tree.top() : above);
      }
    }
    grounds.forEach((ground, time) -> time.addTo(ground));
    return grounds.isEmpty() ? null : flame;
  }

  /** The child of that name, of a family of kernel spans. */
  Flame child(String called, String family) {
    return child(called, Kind.ofFamily(family));
  }

  /** The child of that name. Children beyond the limit share one. */
  Flame child(String called, Kind kindOfChild) {
    String key = children.size() < MAX_CHILDREN || children.containsKey(called) ? called : "others";
    return children.computeIfAbsent(key, added -> new Flame(added, kindOfChild));
  }

  void addOwn(long amount) {
    own += amount;
  }

  /** The name of the frame. */
  public String name() {
    return name;
  }

  /** What it is. */
  public Kind kind() {
    return kind;
  }

  /** Its own nanoseconds, or samples of stacks, and those of its children. */
  public long total() {
    return own + children.values().stream().mapToLong(Flame::total).sum();
  }

  /** The children. */
  public List<Flame> children() {
    return new ArrayList<>(children.values());
  }
}
