package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.KernelSpans;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request's time in the kernel and in the driver: family, call, and detail.
 *
 * <p>The bridge reports calls, not stacks. A span of the request is the base of its calls; widths
 * are times in calls, which overlap if threads do.
 */
public final class Flame {

  private static final List<Attribute<?>> DETAILS =
      List.of(
          KernelAttributes.OPERATION,
          KernelAttributes.THREAD_STATE,
          KernelAttributes.STREAM,
          KernelAttributes.COMMUNICATOR,
          KernelAttributes.FD_KIND,
          KernelAttributes.FILE_PLACE);
  private static final int MAX_CHILDREN = 500;

  private final String name;
  private final Map<String, Flame> children = new LinkedHashMap<>();
  private long ownNanos;

  private Flame(String name) {
    this.name = name;
  }

  /** Null if the trace has no kernel spans. */
  static @Nullable Flame read(TraceTree tree) {
    Flame flame = new Flame(ShortText.of(tree.top().span().name(), 120));
    for (Node node : tree.ordered()) {
      if (SpanTypes.isKernel(node.type()) && !SpanTypes.isPhase(node.type())) {
        flame.add(node);
      }
    }
    return flame.children.isEmpty() ? null : flame;
  }

  private void add(Node node) {
    Node above = node.parent();
    while (above != null && SpanTypes.isKernel(above.type())) {
      above = above.parent();
    }
    Flame ground = above == null ? this : child(ShortText.of(above.span().name(), 120));
    String call = KernelSpans.unfolded(node.span().name());
    int dot = call.indexOf('.');
    Flame at = ground.child(dot < 0 ? call : call.substring(0, dot)).child(ShortText.of(call, 120));
    String detail = detail(node);
    (detail == null ? at : at.child(detail)).ownNanos += nanos(node);
  }

  private static long nanos(Node node) {
    Long sum = node.detail().count(KernelAttributes.DURATION_SUM_NS);
    long length = node.span().endNanos() - node.span().startNanos();
    return sum == null || sum < 0 ? length : sum;
  }

  private static @Nullable String detail(Node node) {
    for (Attribute<?> attribute : DETAILS) {
      String text = node.detail().text(attribute);
      if (text != null) {
        return ShortText.of(text, 120);
      }
    }
    return null;
  }

  /** The child of that name. Children beyond the limit share one. */
  private Flame child(String called) {
    String key = children.size() < MAX_CHILDREN || children.containsKey(called) ? called : "others";
    return children.computeIfAbsent(key, Flame::new);
  }

  /** The name of the frame. */
  public String name() {
    return name;
  }

  /** Its own time and that of its children. */
  public long nanos() {
    return ownNanos + children.values().stream().mapToLong(Flame::nanos).sum();
  }

  /** The children. */
  public List<Flame> children() {
    return new ArrayList<>(children.values());
  }
}
