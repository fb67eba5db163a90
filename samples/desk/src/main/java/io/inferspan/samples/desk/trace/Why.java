package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says in one sentence where a request's time went, or what went wrong. */
final class Why {

  /** A part of an engine's time is worth a word from this share on. */
  private static final double WORTH_A_WORD = 0.5;

  private static final int MAX_TEXT_LENGTH = 160;

  private Why() {}

  static String of(RequestWay way, Status status) {
    return switch (status) {
      case OPEN -> open(way.tree());
      case BROKEN -> broken(way.tree());
      case ERROR -> failed(way.tree());
      case OK -> slow(way.tree());
    };
  }

  private static String open(TraceTree tree) {
    return "still running: %d spans have come, the first of them all has not"
        .formatted(tree.ordered().size());
  }

  private static String broken(TraceTree tree) {
    if (tree.orphans().isEmpty()) {
      return "no span has come that stands for the whole request";
    }
    Node first =
        tree.orphans().stream()
            .filter(node -> !SpanTypes.isKernel(node.type()))
            .findFirst()
            .orElseGet(tree.orphans()::getFirst);
    SpanType above = first.type() == null ? null : first.type().parent();
    String missing =
        above == null ? "what called it" : above.name(SpanNaming.PROPOSAL) + above.parameter();
    return "%s %s without its parent: %s has not come, so its process has died or still works"
        .formatted(
            place(first),
            tree.orphans().size() == 1
                ? "hangs in the air"
                : "and %d more hang in the air".formatted(tree.orphans().size() - 1),
            missing);
  }

  private static String failed(TraceTree tree) {
    Node deepest = null;
    for (Node node : tree.ordered()) {
      boolean within = node.children().stream().anyMatch(child -> child.span().mark().error());
      if (node.span().mark().error() && !within && !SpanTypes.isKernel(node.type())) {
        deepest = deepest == null || isEarlier(node, deepest) ? node : deepest;
      }
    }
    if (deepest == null) {
      return slow(tree);
    }
    String type = deepest.detail().text(CommonAttributes.ERROR_TYPE);
    String text = deepest.detail().statusText();
    return "failed in %s after %s%s%s"
        .formatted(
            place(deepest),
            millis(deepest.span().endNanos() - tree.startNanos()),
            type == null ? "" : ": " + ShortText.of(type, MAX_TEXT_LENGTH),
            text.isEmpty() ? "" : " (" + ShortText.of(text, MAX_TEXT_LENGTH) + ")");
  }

  private static boolean isEarlier(Node node, Node other) {
    return node.span().endNanos() < other.span().endNanos();
  }

  private static String slow(TraceTree tree) {
    Node top = tree.top();
    Node slowest = top;
    long most = -1;
    for (Node node : tree.ordered()) {
      long self = SpanTypes.isKernel(node.type()) ? -1 : node.selfNanos();
      if (self > most) {
        slowest = node;
        most = self;
      }
    }
    return "%s of %s went into %s%s"
        .formatted(
            millis(most),
            millis(top.span().endNanos() - top.span().startNanos()),
            place(slowest),
            phase(slowest));
  }

  /** What the engine did most of that time. */
  private static String phase(Node node) {
    if (node.type() != EngineSpans.LLM_REQUEST) {
      return "";
    }
    long whole = Math.max(1, node.span().endNanos() - node.span().startNanos());
    List<Phase> phases =
        List.of(
            new Phase("waiting in its queue", time(node, GenAiAttributes.LATENCY_TIME_IN_QUEUE)),
            new Phase(
                "before its first token",
                time(node, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL)),
            new Phase(
                "from its first token to its last",
                time(node, GenAiAttributes.LATENCY_TIME_IN_MODEL_DECODE)));
    for (Phase phase : phases) {
      if (phase.nanos != null && phase.nanos >= WORTH_A_WORD * whole) {
        return ", %s of it %s".formatted(millis(phase.nanos), phase.words);
      }
    }
    return "";
  }

  private record Phase(String words, @Nullable Long nanos) {}

  private static @Nullable Long time(Node node, Attribute<Double> attribute) {
    return RequestWay.seconds(node, attribute);
  }

  private static String place(Node node) {
    return ShortText.of(node.span().name(), MAX_TEXT_LENGTH)
        + " on "
        + ShortText.of(node.span().origin().readable(), MAX_TEXT_LENGTH);
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, nanos < 1_000_000 ? "%.3f ms" : "%.1f ms", nanos / 1e6);
  }
}
