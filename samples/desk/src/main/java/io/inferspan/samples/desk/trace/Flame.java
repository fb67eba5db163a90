package io.inferspan.samples.desk.trace;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A frame of the request's flame graph, with its children.
 *
 * <p>In a graph of recorded stacks, frames are functions, and the width is the number of samples.
 * In a graph of spans, the levels are the span, the event family (such as {@code syscall}), the
 * call and a detail, and the width is the time in calls.
 */
public final class Flame {

  private static final int MAX_CHILDREN = 500;

  /** The event families of the GPU. */
  private static final List<String> OF_DEVICE = List.of("cuda", "nccl");

  private final String name;
  private final Kind kind;
  private final Map<String, Flame> children = new LinkedHashMap<>();
  private long own;

  /** The kind of a frame, which determines its colour. */
  public enum Kind {
    /** The program's own code, or a span. */
    CPU,
    /** Code of the operating system's kernel, or calls to it. */
    KERNEL,
    /** Work of the GPU, or calls to its driver. */
    GPU,
    /** A marker: the end of a truncated stack, or the boundary between CPU and GPU frames. */
    NONE;

    /** Returns the name in the page's API. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the kind of a function, from its suffix in the recorded stack. */
    static Kind ofFunction(String name) {
      if (name.endsWith("_[G]") || name.endsWith("_[g]")) {
        return GPU;
      }
      return name.endsWith("_[k]") ? KERNEL : name.equals("-") || name.startsWith("[") ? NONE : CPU;
    }

    private static Kind ofFamily(String family) {
      // Applications report spans by the protocol CKP.
      return OF_DEVICE.contains(family) ? GPU : family.equals("ckp") ? CPU : KERNEL;
    }
  }

  Flame(String name, Kind kind) {
    this.name = name;
    this.kind = kind;
  }

  /** Returns the flame graph of a trace's spans, or null if none is from the eBPF bridge. */
  static @Nullable Flame read(TraceTree tree) {
    Flame flame = new Flame(ShortText.of(tree.top().span().name(), 120), Kind.CPU);
    Map<Flame, KernelTime> bases = new LinkedHashMap<>();
    for (Node node : tree.ordered()) {
      if (SpanTypes.isKernel(node.type()) && !SpanTypes.isPhase(node.type())) {
        Node above = node.parent();
        while (above != null && SpanTypes.isKernel(above.type())) {
          above = above.parent();
        }
        Flame base =
            above == null ? flame : flame.child(ShortText.of(above.span().name(), 120), Kind.CPU);
        bases
            .computeIfAbsent(base, key -> new KernelTime())
            .add(node, above == null ? tree.top() : above);
      }
    }
    bases.forEach((base, time) -> time.addTo(base));
    return bases.isEmpty() ? null : flame;
  }

  /** Returns the child with this name, whose kind is that of the family. */
  Flame child(String called, String family) {
    return child(called, Kind.ofFamily(family));
  }

  /**
   * Returns the child with this name; creates it if needed. Children beyond the limit share one
   * frame.
   */
  Flame child(String called, Kind kindOfChild) {
    String key = children.size() < MAX_CHILDREN || children.containsKey(called) ? called : "others";
    return children.computeIfAbsent(key, added -> new Flame(added, kindOfChild));
  }

  void addOwn(long amount) {
    own += amount;
  }

  /** Returns the name. */
  public String name() {
    return name;
  }

  /** Returns the kind of the frame. */
  public Kind kind() {
    return kind;
  }

  /** Returns the nanoseconds of the frame and its children; for recorded stacks, the samples. */
  public long total() {
    return own + children.values().stream().mapToLong(Flame::total).sum();
  }

  /** Returns the children. */
  public List<Flame> children() {
    return new ArrayList<>(children.values());
  }
}
